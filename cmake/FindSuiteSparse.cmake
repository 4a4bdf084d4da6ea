# SPDX-License-Identifier: Apache-2.0
# Finds the sparse factorisations CHOLMOD and UMFPACK: the imported target SuiteSparse::SuiteSparse.
find_path(SuiteSparse_INCLUDE_DIR umfpack.h PATH_SUFFIXES suitesparse)
find_library(SuiteSparse_CHOLMOD_LIBRARY cholmod)
find_library(SuiteSparse_UMFPACK_LIBRARY umfpack)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SuiteSparse
  REQUIRED_VARS SuiteSparse_UMFPACK_LIBRARY SuiteSparse_CHOLMOD_LIBRARY SuiteSparse_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "(Debian: libsuitesparse-dev)")

if(SuiteSparse_FOUND AND NOT TARGET SuiteSparse::SuiteSparse)
  add_library(SuiteSparse::SuiteSparse INTERFACE IMPORTED)
  target_include_directories(SuiteSparse::SuiteSparse SYSTEM INTERFACE ${SuiteSparse_INCLUDE_DIR})
  target_link_libraries(SuiteSparse::SuiteSparse INTERFACE ${SuiteSparse_UMFPACK_LIBRARY} ${SuiteSparse_CHOLMOD_LIBRARY})
endif()
mark_as_advanced(SuiteSparse_INCLUDE_DIR SuiteSparse_CHOLMOD_LIBRARY SuiteSparse_UMFPACK_LIBRARY)
