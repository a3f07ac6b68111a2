# base/build_info.hpp: version, git state and compiler, looked up at every build, written only when they changed.
# The file is both: included by CMakeLists.txt, and run as a script (cmake -P) by the target that it makes.
if(CMAKE_SCRIPT_MODE_FILE)
  set(GIT_STATE "")
  if(GIT)
    execute_process(COMMAND "${GIT}" -C "${SOURCE_DIR}" describe --always --dirty --tags --match "v*"
                    OUTPUT_VARIABLE GIT_STATE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(GIT_STATE STREQUAL "")
    set(GIT_STATE "unknown")
  endif()
  configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)   # leaves an equal file alone
  return()
endif()

find_program(WINDTUNNEL_GIT git)
set(build_info_source "${CMAKE_CURRENT_BINARY_DIR}/generated/build_info.cpp")
set(build_info_arguments
  "-DVERSION=${PROJECT_VERSION}" "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
  "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}" "-DGIT=$<$<BOOL:${WINDTUNNEL_GIT}>:${WINDTUNNEL_GIT}>" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
  "-DTEMPLATE=${PROJECT_SOURCE_DIR}/cmake/build_info.cpp.in" "-DOUTPUT=${build_info_source}"
  -P "${PROJECT_SOURCE_DIR}/cmake/build_info.cmake")
add_custom_target(windtunnel_build_info_source COMMAND "${CMAKE_COMMAND}" ${build_info_arguments}
                  BYPRODUCTS "${build_info_source}" VERBATIM COMMENT "")
add_library(windtunnel_build_info STATIC "${build_info_source}")
add_dependencies(windtunnel_build_info windtunnel_build_info_source)
target_link_libraries(windtunnel_build_info PUBLIC windtunnel_options)
