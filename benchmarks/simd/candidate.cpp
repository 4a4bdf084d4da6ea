// SPDX-License-Identifier: Apache-2.0
// One candidate for one target; compiled once per pair. TEMPI_ADAPTER is its header, TEMPI_CANDIDATE its name.
#include TEMPI_ADAPTER
#ifndef TEMPI_CONTROL
#include "pack.hpp"
#endif

#define TEMPI_TEXT(x) #x
#define TEMPI_NAME(x) TEMPI_TEXT(x)

namespace tempi::bench::TEMPI_CANDIDATE {
extern const Candidate entry;
const Candidate entry = {TEMPI_NAME(TEMPI_CANDIDATE), Pack::width, &strike<Pack>, &log1p_all<Pack>};
}  // namespace tempi::bench::TEMPI_CANDIDATE
