# windtunnel_room(NAME ROOMS ... LIBRARIES ...)
#   library windtunnel_NAME from src/NAME/*.cpp; its headers stand in include/windtunnel/NAME.
#   ROOMS: the rooms that it may include. LIBRARIES: third-party targets, private to the room.
# Unit tests (tests/unit/NAME/*_test.cpp -> bin/unit_NAME) and benchmarks (tests/bench/NAME/*.cpp -> bin/bench_NAME)
# are picked up by tests/CMakeLists.txt.
set_property(GLOBAL PROPERTY WINDTUNNEL_ROOMS "")

function(windtunnel_room name)
  cmake_parse_arguments(ARG "" "" "ROOMS;LIBRARIES" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY WINDTUNNEL_ROOMS ${name})
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  list(TRANSFORM ARG_ROOMS PREPEND windtunnel_)
  set(target windtunnel_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PUBLIC windtunnel_options ${ARG_ROOMS} fmt::fmt PRIVATE ${ARG_LIBRARIES})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE windtunnel_options ${ARG_ROOMS} fmt::fmt ${ARG_LIBRARIES})
  endif()
endfunction()

# The program: src/app/main.cpp and the version stamp.
function(windtunnel_binary)
  if(EXISTS "${PROJECT_SOURCE_DIR}/src/app/main.cpp")
    add_executable(windtunnel src/app/main.cpp)
    target_link_libraries(windtunnel PRIVATE windtunnel_app Threads::Threads)
  endif()
endfunction()
