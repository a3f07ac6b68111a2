# Language level, warnings, contracts and sanitizers. Every target takes them from `windtunnel_options`.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

option(WINDTUNNEL_CONTRACTS "Check expects() and ensures() at run time" OFF)
option(WINDTUNNEL_WARNINGS_AS_ERRORS "Treat warnings as errors" ON)
option(WINDTUNNEL_BUILD_TESTS "Build the tests" ON)
option(WINDTUNNEL_BUILD_BENCHMARKS "Build the benchmarks (needs Google Benchmark)" ON)
set(WINDTUNNEL_SANITIZE "" CACHE STRING "Value of -fsanitize=, for example address,undefined")

add_library(windtunnel_options INTERFACE)
target_include_directories(windtunnel_options INTERFACE "${PROJECT_SOURCE_DIR}/include")
target_compile_options(windtunnel_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  -ffp-contract=off)   # equal bits: no fused multiply-add chosen by the compiler
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(windtunnel_options INTERFACE -Wno-restrict)   # false alarms on text + std::string, GCC bug 105651
endif()
if(WINDTUNNEL_WARNINGS_AS_ERRORS)
  target_compile_options(windtunnel_options INTERFACE -Werror)
endif()
target_compile_definitions(windtunnel_options INTERFACE OMPI_SKIP_MPICXX=1)
if(WINDTUNNEL_CONTRACTS)
  target_compile_definitions(windtunnel_options INTERFACE WINDTUNNEL_CONTRACTS=1)
endif()
if(WINDTUNNEL_SANITIZE)
  target_compile_options(windtunnel_options INTERFACE -fsanitize=${WINDTUNNEL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(windtunnel_options INTERFACE -fsanitize=${WINDTUNNEL_SANITIZE})
endif()
