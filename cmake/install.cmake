# SPDX-License-Identifier: Apache-2.0
# The library, its headers as <tempi/...>, its CMake package, and the command.
include(CMakePackageConfigHelpers)

set(TEMPI_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tempi)
install(TARGETS tempi EXPORT tempiTargets)
install(DIRECTORY src/tempi TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp")
install(FILES ${TEMPI_GENERATED}/tempi/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tempi)
if(TEMPI_BUILD_APP)
  set_target_properties(tempi_command PROPERTIES
    INSTALL_RPATH "$<$<BOOL:${BUILD_SHARED_LIBS}>:$ORIGIN/../${CMAKE_INSTALL_LIBDIR}>")
  install(TARGETS tempi_command)
  install(DIRECTORY app/plot DESTINATION ${CMAKE_INSTALL_DATADIR}/tempi FILES_MATCHING PATTERN "*.py")
endif()
install(EXPORT tempiTargets NAMESPACE tempi:: DESTINATION ${TEMPI_CMAKE_DIR})

configure_package_config_file(cmake/tempiConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/tempiConfig.cmake
                              INSTALL_DESTINATION ${TEMPI_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tempiConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tempiConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/tempiConfigVersion.cmake
        DESTINATION ${TEMPI_CMAKE_DIR})
install(FILES cmake/FindMETIS.cmake DESTINATION ${TEMPI_CMAKE_DIR})
if(TEMPI_WITH_SUITESPARSE)
  install(FILES cmake/FindSuiteSparse.cmake DESTINATION ${TEMPI_CMAKE_DIR})
endif()
if(TEMPI_WITH_GMSH)
  install(TARGETS tempi_mesh RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tempi)
endif()
