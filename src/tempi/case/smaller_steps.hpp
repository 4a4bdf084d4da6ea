// SPDX-License-Identifier: Apache-2.0
// What becomes of a run whose steps prove too large for its motion, though the case left them to us: it begins again
// from the start with two thirds of the safety (and of contacts' surface_safety), later with half of it, so that its
// results are of one set of fixed steps, as everything that is claimed of them asks for. (Decision 0019.)
//
// Steps are chosen where a run starts; what deformation does to them, and what a motion at their limit does, shows
// later: an element inverts, a step exceeds its term's stable one, energy comes from nowhere. Four times at most, and
// not where a smaller step ends at the same time as the one before: then it is the motion. Not for steps that the case
// gives (safety, courant, step).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tempi/case/simulation.hpp"
#include "tempi/core/error.hpp"
#include "tempi/core/section_file.hpp"

namespace tempi {

bool begins_again(const Simulation& simulation, const StepError& failure);

// Brings the case to life anew, with smaller steps than those of the last of `tries`; warns of each. Throws as build().
void begin_again(Simulation& simulation, std::vector<EarlierTry> tries);

// What earlier tries say of a failure after which nothing begins again; empty where there were none.
std::string lesson(const std::vector<EarlierTry>& tries);

// A section of checkpoints, "tries".
void put_tries(Sections& sections, const std::vector<EarlierTry>& tries);
std::vector<EarlierTry> tries_of(const Sections& sections);  // none where there is no such section, or no sense in it

}  // namespace tempi
