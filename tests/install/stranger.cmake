# SPDX-License-Identifier: Apache-2.0
# cmake -P: configures a stranger's project in a fresh folder and, with STEPS=run, builds and runs it.
# With INSTALL=ON the library is installed first, to a prefix of its own.
function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
set(options -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
            -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_BUILD_TYPE=${CONFIG})
if(INSTALL)
  step("installing" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
  foreach(file IN ITEMS include/tempi/core/expression.hpp include/tempi/version.hpp)
    if(NOT EXISTS ${SCRATCH}/prefix/${file})
      message(FATAL_ERROR "${file} was not installed")
    endif()
  endforeach()
  list(APPEND options -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DWITH_GMSH=${WITH_GMSH})
else()
  list(APPEND options -DTEMPI_SOURCE_DIR=${TEMPI} -DTEMPI_WITH_GMSH=${WITH_GMSH})
endif()
step("configuring" ${CMAKE_COMMAND} -S ${PROJECT} -B ${SCRATCH}/build ${options})
if(STEPS STREQUAL "run")
  step("building" ${CMAKE_COMMAND} --build ${SCRATCH}/build)
  if(INSTALL)  # with the mesh reader of the installation
    set(ENV{TEMPI_MESH_READER} ${SCRATCH}/prefix/libexec/tempi/tempi-mesh)
  endif()
  step("running" ${SCRATCH}/build/stranger)
  message(STATUS "${output}")
endif()
