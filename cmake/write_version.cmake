# SPDX-License-Identifier: Apache-2.0
# Run at every build: writes the version header, and only when it would change.
# Wants TEMPI_VERSION, SOURCE_DIR, OUTPUT.
set(TEMPI_GIT_HASH "unknown")
find_program(GIT git)
if(GIT)
  # A copy inside somebody else's checkout must not take that one's hash.
  execute_process(COMMAND ${GIT} rev-parse --show-toplevel WORKING_DIRECTORY ${SOURCE_DIR}
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${SOURCE_DIR}" here)
  if(top STREQUAL here)
    execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY ${SOURCE_DIR}
                    OUTPUT_VARIABLE hash OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(TEMPI_GIT_HASH "${hash}")
    endif()
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.hpp.in ${OUTPUT} @ONLY)
