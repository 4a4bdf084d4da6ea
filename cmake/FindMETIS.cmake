# SPDX-License-Identifier: Apache-2.0
# Finds the graph partitioner METIS: the imported target METIS::METIS.
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(METIS
  REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "(Debian: libmetis-dev)")
if(METIS_FOUND AND NOT TARGET METIS::METIS)
  add_library(METIS::METIS INTERFACE IMPORTED)
  target_include_directories(METIS::METIS SYSTEM INTERFACE ${METIS_INCLUDE_DIR})
  target_link_libraries(METIS::METIS INTERFACE ${METIS_LIBRARY})
endif()
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
