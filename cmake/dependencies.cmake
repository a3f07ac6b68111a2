# Third-party packages. Header-only ones come from the system or, without one, from a folder that the user names
# with -DCMAKE_PREFIX_PATH=... ; nothing is downloaded.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(muparser REQUIRED)
find_package(MPI REQUIRED COMPONENTS C)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Boost REQUIRED COMPONENTS program_options)

# The serial HDF5: only rank 0 writes. HDF5_ROOT may be given; Debian's place is used only where it exists.
if(NOT HDF5_ROOT AND NOT DEFINED ENV{HDF5_ROOT})
  file(GLOB windtunnel_serial_hdf5 "/usr/lib/*/hdf5/serial")
  if(windtunnel_serial_hdf5)
    list(GET windtunnel_serial_hdf5 0 HDF5_ROOT)
  endif()
endif()
find_package(HDF5 REQUIRED COMPONENTS C)
add_library(hdf5_serial INTERFACE)
target_include_directories(hdf5_serial SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_link_libraries(hdf5_serial INTERFACE ${HDF5_C_LIBRARIES})

if(WINDTUNNEL_BUILD_TESTS)
  find_package(GTest REQUIRED)
  if(WINDTUNNEL_BUILD_BENCHMARKS)
    find_package(benchmark REQUIRED)
  endif()
endif()
