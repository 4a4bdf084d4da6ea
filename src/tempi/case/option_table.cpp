// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tempi/case/method_table.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using enum OptionKind;

constexpr Range any{};
constexpr Range positive{.low = 0.0};
constexpr Range half_or_more{.low = 0.5, .low_closed = true};
constexpr Range not_negative{.low = 0.0, .low_closed = true};
constexpr Range from_two_to_four{.low = 2.0, .high = 4.0, .low_closed = true, .high_closed = true};
constexpr Range up_to_half{.low = 0.0, .high = 0.5, .low_closed = false, .high_closed = true};
constexpr Range up_to_one{.low = 0.0, .high = 1.0, .low_closed = true, .high_closed = true};
constexpr Range fraction{.low = 0.0, .high = 1.0, .low_closed = false, .high_closed = true};
constexpr Range count{.low = 0.0, .high = 1e9, .low_closed = true, .high_closed = true};
constexpr Range at_least_one{.low = 1.0, .high = 1e9, .low_closed = true, .high_closed = true};
constexpr Range two_or_more{.low = 2.0, .low_closed = true};
constexpr Range one_or_more{.low = 1.0, .low_closed = true};
constexpr Range zero_to_ten{.low = 0.0, .high = 10.0, .low_closed = true, .high_closed = true};
constexpr Range zero_to_half{.low = 0.0, .high = 0.5, .low_closed = true, .high_closed = true};
constexpr Range half_to_one{.low = 0.5, .high = 1.0, .low_closed = true, .high_closed = true};
constexpr Range zero_to_one{.low = 0.0, .high = 1.0, .low_closed = true, .high_closed = true};
constexpr Range two_to_six{.low = 2.0, .high = 6.0, .low_closed = true, .high_closed = true};
constexpr Range one_or_two{.low = 1.0, .high = 2.0, .low_closed = true, .high_closed = true};

constexpr std::string_view particles_text = "instead of group: particles by number, from 0";
constexpr std::string_view where_text = "instead of group: a condition on X, Y, Z, such as \"X < 1e-6\"";

constexpr SectionInfo sections[] = {
    {"", false, "Before the first section."},
    {"constants", false, "Numbers with names of your own, for every expression."},
    {"mesh", false, "Where the mesh comes from."},
    {"particles", false,
     "Particles, instead of a mesh or beside it: from a file, or mass, position, velocity here. All of them are the "
     "group \"particles\"."},
    {"potential", true, "Forces between particles or nodes of a mesh, and fields that hold them."},
    {"material", true, "What the cells are made of. Every cell needs exactly one."},
    {"fix", true, "Supports: components of nodes at rest, or moving as prescribed."},
    {"load", true, "Loads. They act within their elements' updates."},
    {"constraint", true, "Holonomic constraints, which the methods shake and rattle keep."},
    {"damping", true,
     "Dampers. They take energy and never give any; history.csv has what they have done, and friction and restitution "
     "of contact, as damping_work."},
    {"contact", true, "Bodies that may not pass through each other."},
    {"wall", true, "Rigid obstacles, for the nodes of the surface and for particles, which count as points."},
    {"initial", false, "Where the body starts. Omitted: at rest, undeformed."},
    {"probe", true, "Places to follow in history.csv."},
    {"path_integral", true, "J-, L- and M-integrals of cracks and other defects, in history.csv."},
    {"subdomain", true, "Parts of the model with energy steps and events of their own, for async-energy-stepping."},
    {"domain", true,
     "Parts of the model that multi-domain integrates each by itself. Every cell, and every bond, is in one."},
    {"tie", true, "Surfaces or particles of different domains that are held together though they share no nodes."},
    {"integrator", false, "The method and its time steps: at most one of safety, courant and step."},
    {"run", false, "How long."},
    {"output", false, "What is written, and how often."},
};

// `methods` stands for the names in the table of methods.
constexpr std::string_view methods = "method | method | ...";
constexpr Option rows[] = {
    {"", "title", text, "", "\"\"", "", any, "a name for the run"},

    {"mesh", "file", text, "", "", "", any,
     "what Gmsh reads (.msh .geo .step .mesh .bdf .vtk ...) or Abaqus .inp; relative to the case file"},
    {"mesh", "beside", words, "", "", "", any,
     "more such files, whose cells stand beside those of file with nodes of their own: for [[tie]] and [[contact]]"},
    {"mesh", "order", integer, "", "1", "", one_or_two, "element order when Gmsh meshes a geometry"},
    {"mesh", "size", number, "mesh units", "", "", positive,
     "element size when Gmsh meshes a geometry; omitted: as the geometry says"},
    {"mesh", "refine", integer, "", "0", "", zero_to_ten,
     "how often every cell is cut at its edges' middles when Gmsh meshes a geometry: 4 times the triangles, 8 times "
     "the tetrahedra"},
    {"mesh", "curved", boolean, "", "true", "", any,
     "mid-edge nodes on the true geometry, unless a .geo says otherwise; false: on straight edges"},
    {"mesh", "system_calls", boolean, "", "false", "", any,
     "let a .geo run the commands it wants to (SystemCall): only for files you trust"},
    {"mesh", "scale", number, "", "1.0", "", positive, "factor on all coordinates, e.g. 1e-3 for a mesh in mm"},

    {"particles", "file", text, "", "", "", any,
     "CSV with a header of mass, x, y[, z], vx, vy[, vz], radius and group, (extended) XYZ, or a data file of LAMMPS "
     "(its atoms as their own numbers ascend); relative to the case file"},
    {"particles", "units", choice, "", "", "si | lj | real | metal | cgs | electron | micro | nano", any,
     "in which the file is written, as LAMMPS names them (metal: angstrom, dalton, angstrom/ps); omitted: as a "
     "data file says in its first line, else si"},
    {"particles", "scale", number, "", "1.0", "", positive, "factor on the file's coordinates, box and velocities"},
    {"particles", "mass", number_or_numbers, "kg", "", "", positive,
     "one for all, or one each; not needed where the file has them, or where its species are chemical elements"},
    {"particles", "position", points, "m", "", "", any, "[[x, y], ...] or [[x, y, z], ...], one each"},
    {"particles", "velocity", points, "m/s", "", "", any, "the same; omitted: at rest, or as the file has them"},
    {"particles", "box", numbers, "m", "", "", not_negative,
     "lengths of a periodic box, one an axis, 0 for an axis that is free; omitted: free, or as the file has it"},

    {"particles", "radius", number_or_numbers, "m", "", "", positive,
     "one for all, or one each: makes them spheres, for hertz; omitted: points, or as the file has them"},

    {"potential", "type", choice, "", "required",
     "lennard-jones | morse | spring | tanh-spring | gravity | hertz | expression | embedded-atom | well | "
     "uniform-field",
     any,
     "lennard-jones: epsilon, sigma, cutoff; morse: depth, inverse_width, length; spring: stiffness, length; "
     "tanh-spring: strength, width, length; gravity: G; hertz: stiffness, length, or young, poisson; expression: "
     "expression of r; these between pairs. embedded-atom: depth, cutoff, exponent, of atoms in their neighbours' "
     "density. On single particles: well: stiffness, centre; uniform-field: acceleration"},
    {"potential", "pairs", OptionKind::pairs, "", "\"all\"", "", any,
     "\"all\", [[0, 1], [1, 2], ...] counted from 0 (in a mesh: its file's numbers), or a CSV file of such pairs; "
     "springs and morse need it, or within"},
    {"potential", "within", number, "m", "", "", positive,
     "of all pairs those no farther apart than this at the start"},
    {"potential", "group", group, "", "", "", any, "only among, or on, the nodes of this group"},
    {"potential", "where", text, "", "", "", any, where_text},
    {"potential", "particles", integers, "", "", "", not_negative, particles_text},
    {"potential", "between", words, "", "", "", any, "two groups that share no node: only pairs of one with the other"},
    {"potential", "kinds", words, "", "", "", any,
     "groups, together everybody who takes part, each with values of its own: epsilon and sigma of lennard-jones "
     "(mixed as Lorentz and Berthelot have it), young and poisson of hertz"},
    {"potential", "step", number_or_numbers, "s", "", "", positive,
     "of its own, whatever [integrator] says; with split one for each class, near ones first"},
    {"potential", "split", numbers, "m", "", "", positive,
     "ascending distances that divide the law into classes, from near to far, each with a step of its own (r-RESPA by "
     "distance); they blend smoothly and sum to the law"},
    {"potential", "blend", number, "m", "", "", positive,
     "how far around each distance of split two classes blend; omitted: a fifth of the least of them"},
    {"potential", "epsilon", number_or_numbers, "J", "", "", positive,
     "V = 4 epsilon ((sigma/r)^12 - (sigma/r)^6); one, or one for each of kinds"},
    {"potential", "sigma", number_or_numbers, "m", "", "", positive,
     "of lennard-jones: where V = 0; one, or one for each of kinds"},
    {"potential", "cutoff", number, "m", "", "", positive,
     "of lennard-jones: V is shifted to be zero from here on; pairs are then found by a list of neighbours. Of "
     "embedded-atom: where neighbours end"},
    {"potential", "skin", number, "m", "", "", not_negative,
     "beyond the cutoff (or length of hertz): how far the list of neighbours reaches; omitted: 0.12 of it"},
    {"potential", "together", boolean, "", "", "", any,
     "all pairs as one element and, where the law ends, with a list of neighbours; or each an element of its own (with "
     "the smallest step of all, or of its class with split, but for bonds, pairs listed and gravity without split). "
     "Omitted: together with a cutoff and for "
     "hertz"},
    {"potential", "depth", number, "J", "", "", positive,
     "morse: V = depth (1 - exp(-(r - length) inverse_width))^2; embedded-atom: V = -depth sqrt(rho) of each atom, rho "
     "= sum over its neighbours of (1 - r/cutoff)^exponent"},
    {"potential", "exponent", number, "", "", "", two_or_more,
     "of embedded-atom; 2 is Finnis and Sinclair's; omitted: 4"},
    {"potential", "young", number_or_numbers, "Pa", "", "", positive,
     "of hertz between spheres of [particles] radius, with poisson, instead of stiffness and length: one, or one for "
     "each of kinds"},
    {"potential",
     "poisson",
     number_or_numbers,
     "",
     "",
     "",
     {.low = -1.0, .high = 0.5, .high_closed = true},
     "with young"},
    {"potential", "inverse_width", number, "1/m", "", "", positive, "of morse"},
    {"potential", "stiffness", number_or_numbers, "N/m, N/m^1.5, N/m", "", "", not_negative,
     "spring: V = stiffness/2 (r - length)^2; hertz: V = 2/5 stiffness (length - r)^(5/2) in contact; well: "
     "V = stiffness/2 (x - centre)^2, or one value an axis"},
    {"potential", "length", number, "m", "", "", not_negative,
     "rest length of springs and morse; sum of radii of hertz"},
    {"potential", "strength", number, "N", "", "", positive, "V = 2 strength width ln cosh((r - length)/(2 width))"},
    {"potential", "width", number, "m", "", "", positive, "of tanh-spring"},
    {"potential", "G", number, "N m^2/kg^2", "", "", positive, "V = -G m_a m_b / r"},
    {"potential", "expression", text, "J", "", "", any, "V(r) as a formula of the distance r, such as \"-1/r\""},
    {"potential", "restitution", formula, "", "", "", any,
     "of hertz: ratio of the speeds after and before an impact, > 0 and <= 1, a number or a formula of the speed of "
     "impact v [m/s] such as \"1 - 0.037*v^0.41\"; what is lost is damping_work. At walls too; for avi and newmark. "
     "Omitted: 1"},
    {"potential", "restitution_table", text, "", "", "", any,
     "the same by measured values: a file of two columns, v and the ratio, v ascending; straight lines between rows, "
     "beyond the first and the last as there"},
    {"potential", "laplacian_damping", numbers, "(m/s)^(1-alpha)/s, -", "", "", not_negative,
     "of hertz, instead of restitution: [gamma, alpha] of the phenomenological damping of chains, eq. (5.2) of the "
     "2011 "
     "thesis, with the sign that takes energy and with action equal to reaction (docs/decisions/0021); spheres of one "
     "material, all pairs together; for avi and newmark"},
    {"potential", "centre", numbers, "m", "", "", any, "of a well; omitted: where each particle starts"},
    {"potential", "acceleration", numbers, "m/s^2", "", "", any, "of a uniform-field: V = -m acceleration . x"},

    {"material", "group", group, "", "", "", any, "cells of this group (name or tag); omitted: every cell"},
    {"material", "where", text, "", "", "", any, "instead of group: a condition on the cell's centroid"},
    {"material", "model", choice, "", "\"neo-hookean\"",
     "neo-hookean | saint-venant-kirchhoff | linear-elastic | shell", any,
     "the law of the material; shell: triangles in space, which stretch and bend"},
    {"material", "lambda", number, "Pa", "", "", any, "Lame's first constant; with mu"},
    {"material", "mu", number, "Pa", "", "", positive, "shear modulus; with lambda"},
    {"material", "young", number, "Pa", "", "", positive, "Young's modulus; with poisson, instead of lambda and mu"},
    {"material", "poisson", number, "", "", "", {.low = -1.0, .high = 0.5}, "Poisson's ratio; with young"},
    {"material", "density", number, "kg/m^3", "required", "", positive, "mass per reference volume"},
    {"material", "thickness", number, "m", "", "", positive, "of a shell"},
    {"material", "stretching", choice, "", "\"saint-venant-kirchhoff\"", "saint-venant-kirchhoff | neo-hookean", any,
     "the law of a shell's stretching, in plane stress"},

    {"fix", "name", text, "", "", "", any,
     "name of its reaction in history.csv; omitted: the group's, or fix1, fix2 ..."},
    {"fix", "group", group, "", "", "", any, "nodes of this group (name or tag)"},
    {"fix", "where", text, "", "", "", any, where_text},
    {"fix", "particles", integers, "", "", "", not_negative, particles_text},
    {"fix", "components", words, "", "", "", any, "which of \"x\", \"y\", \"z\"; omitted: all"},
    {"fix", "displacement", formulas, "m", "", "", any,
     "prescribed displacement, one expression of X, Y, Z, t per component; omitted: at rest where it starts"},
    {"fix", "clamped", boolean, "", "false", "", any,
     "whether shells keep their slope along their outer edges between these nodes"},

    {"load", "type", choice, "", "required", "gravity | traction | pressure | force", any, "the kind of load"},
    {"load", "group", group, "", "", "", any,
     "cells (gravity; omitted: all), facets (traction, pressure) or nodes (force) of this group"},
    {"load", "where", text, "", "", "", any, where_text},
    {"load", "particles", integers, "", "", "", not_negative, particles_text},
    {"load", "value", formula_or_formulas, "m/s^2, Pa, Pa, N", "required", "", any,
     "numbers or expressions of X, Y, Z, t: acceleration; force per reference area; pressure, positive in compression "
     "(one value); force on each node"},
    {"load", "dead", boolean, "", "false", "", any,
     "pressure only: keep to the undeformed surface instead of following"},

    {"constraint", "type", choice, "", "required", "distance | coincident | link | surface | rigid-body", any,
     "distance: between pairs, or those within; coincident: pairs at one place, or within, stay together; link: to the "
     "fixed place anchor; surface: where expression vanishes; "
     "rigid-body: all distances among the nodes, or among every `size` consecutive ones"},
    {"constraint", "pairs", points, "", "", "", any,
     "of a distance, or coincident: [[0, 1], [1, 2], ...], counted as for a potential"},
    {"constraint", "within", number, "m", "", "", positive,
     "of a distance: all pairs no farther apart than this at the start"},
    {"constraint", "group", group, "", "", "", any, "nodes of this group"},
    {"constraint", "where", text, "", "", "", any, where_text},
    {"constraint", "particles", integers, "", "", "", not_negative, particles_text},
    {"constraint", "length", number, "m", "", "", positive, "of distances and links; omitted: that at the start"},
    {"constraint", "anchor", numbers, "m", "", "", any, "the fixed end of links"},
    {"constraint", "expression", text, "", "", "", any,
     "of a surface: a formula of X, Y, Z, here the node's present place, such as \"X^2 + Y^2 + Z^2 - 1\""},
    {"constraint", "extent", number, "m", "", "", positive,
     "over what length the surface bends, for its derivatives; omitted: the largest coordinate of any node"},
    {"constraint", "size", integer, "", "0", "", count, "of rigid bodies: nodes in each; 0: all are one body"},

    {"damping", "type", choice, "", "required", "drag | rayleigh | kelvin-voigt", any,
     "drag: coefficient, force -c v on nodes; rayleigh: alpha times the mass and beta times the stiffness; "
     "kelvin-voigt: viscosities of cells, or a coefficient for dashpots along the bonds of particles"},
    {"damping", "group", group, "", "", "", any, "nodes (drag) or cells (others) of this group; omitted: all"},
    {"damping", "where", text, "", "", "", any, where_text},
    {"damping", "particles", integers, "", "", "", not_negative, particles_text},
    {"damping", "coefficient", number, "kg/s", "", "", not_negative, "of drag on each node, or of each dashpot"},
    {"damping", "alpha", number, "1/s", "", "", not_negative,
     "of rayleigh: a mode decays by alpha / (2 omega) of critical"},
    {"damping", "beta", number, "s", "", "", not_negative, "of rayleigh: a mode decays by beta omega / 2 of critical"},
    {"damping", "bulk_viscosity", number, "Pa s", "", "", not_negative, "of kelvin-voigt on cells"},
    {"damping", "shear_viscosity", number, "Pa s", "", "", not_negative, "of kelvin-voigt on cells"},

    {"initial", "position", formulas, "m", "", "", any, "expressions of X, Y, Z; omitted: the mesh as it is"},
    {"initial", "velocity", formulas, "m/s", "", "", any, "expressions of X, Y, Z; omitted: zero"},

    {"probe", "name", text, "", "required", "", any, "its columns are NAME.displacement_x and so on"},
    {"probe", "point", numbers, "m", "", "", any, "follows the node nearest to this place of the undeformed mesh"},
    {"probe", "group", group, "", "", "", any, "follows the mean of the nodes of this group"},
    {"probe", "where", text, "", "", "", any, where_text},
    {"probe", "stress", boolean, "", "false", "", any,
     "the mean stress and strain of the elements around these nodes too: NAME.stress_xx and so on (Cauchy, Pa; of "
     "linear-elastic lambda tr e + 2 mu e), "
     "NAME.strain_xx (Green)"},
    {"probe", "residual", boolean, "", "false", "", any,
     "of the element whose centre is nearest to point: its energy T_K + V_K, what its last update left unbalanced and "
     "the sum of that (NAME.energy, .residual, .accumulated_residual; needs [integrator] residual)"},
    {"probe", "body", boolean, "", "false", "", any,
     "these nodes as a body of their own, too: NAME.linear_momentum_x ..., .angular_momentum_x ..., .kinetic_energy, "
     ".vibrational_energy (without the motion of its centre of mass), .potential_energy (of what acts among them only) "
     "and, of energy-stepping methods, .level_energy (the terraced one of its subdomains). Of four or more in a row "
     "`tempi plot` measures the wave that one sends through them"},
    {"probe", "particles", integers, "", "", "", not_negative, particles_text},

    {"path_integral", "name", text, "", "required", "", any,
     "its columns are NAME.J_1 (of the front alone), NAME.J_2 and so on; NAME.L_1, NAME.M_1 of other kinds"},
    {"path_integral", "kind", choice, "", "\"J\"", "J | L | M", any,
     "what is released when the front advances (J), the defect turns (L), grows (M)"},
    {"path_integral", "point", numbers, "m", "", "", any,
     "the tip of a crack in the plane, a node of the undeformed mesh"},
    {"path_integral", "group", group, "", "", "", any,
     "the nodes of the tip, of a front in space, or of the whole defect (a crack's faces, a hole's edge)"},
    {"path_integral", "where", text, "", "", "", any, where_text},
    {"path_integral", "direction", formulas, "", "", "", any,
     "of J: in which the front would advance, along the crack; formulas of X, Y, Z where it is curved"},
    {"path_integral", "centre", numbers, "m", "", "", any, "of L and M: about which the defect turns or grows"},
    {"path_integral", "axis", numbers, "", "", "", any, "of L in space: of the turn"},
    {"path_integral", "rings", integer, "", "4", "", at_least_one,
     "how many: J_k is of the nodes less than k rings of elements away from the front"},
    {"path_integral", "contours", words, "", "", "", any,
     "instead of rings: groups of facets (lines of the mesh in the plane), each of which encloses the front; J_k is of "
     "what the k-th encloses"},

    {"contact", "between", words, "", "", "", any,
     "two groups of cells, facets or particles that share no face: only what is of one with what is of the other; "
     "omitted: all outer faces and particles, those of one body among themselves too"},
    {"contact", "law", choice, "", "\"layers\"", "layers | faces", any,
     "layers: potentials without end between vertices, edges and faces that come close, V = r (eta - d)^p / p, each "
     "with a step of its own, so that nobody passes (2010 paper); of avi on a lattice. faces: the energy length^2 / "
     "(2 penalty) for two faces that cross in a segment (2011 thesis, eq. 2.90); in space only"},
    {"contact", "distance", number, "m", "", "", positive,
     "of layers, needed: how near things come before the first pushes"},
    {"contact", "inner_distance", number, "m", "", "", positive,
     "of layers: how near nothing ever comes; omitted: a tenth of distance"},
    {"contact", "stiffness", number, "J/m^p", "", "", positive,
     "of layers: r of the first; omitted: from the materials, and from the speeds it is to stop"},
    {"contact", "exponent", number, "", "3", "", from_two_to_four,
     "of layers: p; with 2 energy wanders some 100 times as far"},
    {"contact", "speed", number, "m/s", "", "", positive,
     "of layers: the speed of approach that steps allow for; omitted: that of the initial velocities, walls, falls and "
     "prescribed motions"},
    {"contact", "surface_safety", number, "", "0.3", "", fraction,
     "of layers: cells at the surface take at most this part of their stable step, where safety sets them (contact "
     "makes their nodes stiffer), and never more than 0.7 of the time in which the first layer is crossed at speed; "
     "those that are too far from "
     "other bodies and walls to meet them at that speed are left alone, where nothing but constant gravity drives "
     "them"},
    {"contact", "alpha", number, "", "0.05", "", up_to_half, "of layers: share of their stable steps"},
    {"contact", "pairs", number, "", "8", "", at_least_one,
     "of layers: how many push a vertex at once, for their stable steps"},
    {"contact", "friction", number, "", "0", "", not_negative,
     "of layers: Coulomb's coefficient; what it takes is booked"},
    {"contact", "energy_restitution", number, "", "1", "", up_to_one,
     "of layers: part of the energy of a layer that is given back (the ratio of speeds squared)"},
    {"contact", "penalty", number, "m/N", "", "", positive,
     "of faces, needed: epsilon of the law: the smaller, the less faces cross and the shorter the steps"},
    {"contact", "skin", number, "m", "", "", not_negative,
     "of faces: how far the list of near ones reaches; omitted: half a mean edge"},
    {"contact", "step", number, "s", "", "", positive,
     "of faces: of its own, whatever [integrator] says; omitted: a quarter of its stable step 2 sqrt(penalty m), m the "
     "lightest node, and no larger part of it than safety or courant; or the step of [integrator]"},

    {"wall", "type", choice, "", "required", "plane | sphere | cylinder | box", any, "its shape"},
    {"wall", "group", group, "", "", "", any, "whose nodes it holds; omitted: everybody's"},
    {"wall", "where", text, "", "", "", any, where_text},
    {"wall", "particles", integers, "", "", "", not_negative, particles_text},
    {"wall", "point", numbers, "m", "", "", any, "plane: a point on it; cylinder: a point on its axis"},
    {"wall", "normal", numbers, "", "", "", any, "plane: towards where bodies are, of any length"},
    {"wall", "centre", numbers, "m", "", "", any, "sphere: its centre"},
    {"wall", "axis", numbers, "", "", "", any, "cylinder: along its axis, of any length"},
    {"wall", "radius", number, "m", "", "", positive, "sphere, cylinder: its radius"},
    {"wall", "inside", boolean, "", "false", "", any, "sphere, cylinder: bodies are within it"},
    {"wall", "low", numbers, "m", "", "", any, "box: its corner of the smallest coordinates"},
    {"wall", "high", numbers, "m", "", "", any, "box: its corner of the largest coordinates"},
    {"wall", "penalty", number, "m/N", "", "", positive,
     "epsilon of the energy depth^2 / (2 penalty) of every node beyond it (2011 thesis, eq. 3.90); omitted: nobody "
     "goes beyond it, exactly for energy-stepping and async-energy-stepping, by the layers of every [[contact]] for "
     "avi"},
    {"wall", "step", number, "s", "", "", positive, "as that of contact"},
    {"wall", "young", number, "Pa", "", "", positive,
     "with poisson: the spheres of every hertz potential with young touch it by Hertz's law; planes and spheres"},
    {"wall", "poisson", number, "", "", "", {.low = -1.0, .high = 0.5}, "of the wall, with young"},
    {"wall", "velocity", numbers, "m/s", "", "", any, "with layers of contact only: it moves so; omitted: it rests"},
    {"wall", "displacement", formulas, "m", "", "", any,
     "with layers of contact only: how far it is from where it is placed, one expression of t per component; omitted: "
     "not at all"},

    {"subdomain", "group", group, "", "", "", any, "cells, or bonds between nodes, of this group"},
    {"subdomain", "where", text, "", "", "", any, where_text},
    {"subdomain", "particles", integers, "", "", "", not_negative, particles_text},
    {"subdomain", "energy_step", number, "J", "", "", positive, "of this one; omitted: that of [integrator]"},

    {"domain", "name", text, "", "", "", any, "a name for messages and results; omitted: domain1, domain2 ..."},
    {"domain", "group", group, "", "", "", any, "cells, or bonds between nodes, of this group"},
    {"domain", "where", text, "", "", "", any, where_text},
    {"domain", "particles", integers, "", "", "", not_negative, particles_text},
    {"domain", "alpha", number, "", "0.0", "", zero_to_one, "of its symmetric midpoint rule: 0 and 1 are explicit"},
    {"domain", "substeps", integer, "", "", "", at_least_one,
     "of a system step; omitted: as many as its elements need"},
    {"domain", "integrator", choice, "", "", "midpoint | avi", any,
     "midpoint: one step for all of it; avi: explicit, each element a step of its own within the system step; omitted: "
     "avi where alpha is 0 or 1 and nothing is damped"},

    {"domain", "rings", integer, "", "", "", zero_to_ten,
     "of elements around it that it takes from the other domains: with many substeps an interface between stiff and "
     "soft elements resonates, and does not one or two rings into the soft ones; omitted: 2 where its elements step by "
     "avi, from explicit domains at least twice as slow"},

    {"tie", "groups", words, "", "", "", any,
     "two groups of facets: nodes of the finer one follow the points of the coarser one they lie on"},
    {"tie", "pairs", OptionKind::pairs, "", "", "", any, "[[a, b], ...]: particle a follows particle b"},
    {"tie", "reach", number, "m", "", "", positive,
     "how far from the other surface a tied node may be; omitted: a tenth of the finer one's edges"},

    {"integrator", "method", choice, "", "\"avi\"", methods, any,
     "avi: every element at its own step; what the others do, solve and keep: `tempi methods`, docs/methods.md"},
    {"integrator", "alpha", number, "", "0.5", "", zero_to_one,
     "of midpoint, trapezoidal, symmetric-midpoint (and actions of these names): where in the step forces act; 0.5 for "
     "second order (any for "
     "symmetric-midpoint)"},
    {"integrator", "beta", number, "", "0.0", "", zero_to_half,
     "of newmark: 0.25 with gamma = 0.5 is implicit and stable at any step for small motions"},
    {"integrator", "gamma", number, "", "0.5", "", half_to_one, "of newmark: 0.5 for second order, more damps"},
    {"integrator", "order", integer, "", "4", "", two_to_six, "of gauss and lobatto: 2, 4 or 6"},
    {"integrator", "action", choice, "", "\"midpoint\"", "midpoint | trapezoidal | gauss", any,
     "of symplectic-energy-momentum: the discrete Lagrangian, with alpha or order"},
    {"integrator", "step_bounds", numbers, "", "[0.25, 4]", "", any,
     "of symplectic-energy-momentum and avi-adaptive: least and largest step as multiples of the nominal one, which is "
     "that of the start: give room where motion is fastest there"},
    {"integrator", "without_root", choice, "", "\"nominal-step\"", "nominal-step | least-residual", any,
     "of avi-adaptive: the step where the energy equation has no root"},
    {"integrator", "residuals", choice, "", "\"carried\"", "carried | forgotten", any,
     "of avi-adaptive: whether an element's next root pays back what its strikes without a root left unbalanced"},
    {"integrator", "energy_step", number, "J", "", "", positive,
     "of energy-stepping: the height of the terrace's steps, a small part of the energies that change. The "
     "smaller, the more events and the closer to the true motion"},
    {"integrator", "grid", number_or_numbers, "m", "", "", positive,
     "of force-stepping: spacing of the grid on which the potential energy is interpolated, one for all axes or "
     "one each"},
    {"integrator", "parity", boolean, "", "false", "", any,
     "of force-stepping: the grid is mirrored at the origin, so that mirrored motions stay mirror images"},
    {"integrator", "reduced", boolean, "", "false", "", any,
     "of force-stepping: without the motion of the centre of mass, in Jacobi's coordinates, and of two particles in "
     "their distance only: the momenta so left out are exact. For bodies that nothing holds"},
    {"integrator", "subdomains", choice_or_count, "", "\"bodies\"", "bodies | groups | terms", at_least_one,
     "of async-energy-stepping, which terms have events together: each connected part of the mesh, the cells of each "
     "group, every term by itself, or so many parts of the mesh cut by METIS; each [[potential]], [[contact]] and "
     "[[wall]] has its own but for terms"},
    {"integrator", "framework", choice, "", "\"canonical\"", "canonical | hamiltonian | lagrangian", any,
     "of multi-domain: what is shown as velocity. canonical: the discrete momentum over the mass, whose momenta are "
     "exact; "
     "hamiltonian: projected momenta of the domains, of first order at interfaces with substeps; lagrangian: "
     "differences "
     "of positions. The motion is the same"},
    {"integrator", "domains", choice_or_count, "", "\"auto\"", "auto | groups", at_least_one,
     "of multi-domain without [[domain]]: elements with short steps a domain of their own where that pays, the cells "
     "of "
     "each group, or so many parts of the mesh cut by METIS"},
    {"integrator", "load_steps", integer, "", "10", "", at_least_one,
     "of static: how many equal steps take t from 0 to end_time; loads and supports that are formulas of t grow with "
     "it"},
    {"integrator", "implicit_step", number, "s", "", "", positive,
     "of avi-implicit: elements whose own step would be shorter act implicitly at this one; the others at halves, "
     "quarters ... or multiples 2, 4 ... of it"},
    {"integrator", "softness", number, "", "1.0", "", half_or_more,
     "of avi-implicit: alpha of decision 0007 for the implicit elements; 0.5 is the midpoint rule, larger is softer "
     "and keeps energy better; 1.5 where steps do not nest"},
    {"integrator", "safety", number, "", "0.9", "", fraction,
     "step as a fraction of each element's stable step at the start; particles that wander (pairs = \"all\") need it, "
     "or step, to be written out. Left out, a run whose steps prove too large begins again with two thirds of it, "
     "twice "
     "at most"},
    {"integrator", "accuracy", number, "", "", "", positive,
     "avi: the error that asynchrony may make in the frequencies of smooth motion, relative, as predicted "
     "(docs/accuracy.md): of the steps up to safety and both couplings the fastest that stays below are taken, or one "
     "step for all where that is faster"},
    {"integrator", "courant", number, "", "", "", positive,
     "step as a multiple of inradius / wave speed; the papers have 0.1"},
    {"integrator", "step", number, "s", "", "", positive,
     "one step for all elements; implicit methods may exceed the stable steps"},
    {"integrator", "steps", choice, "", "\"element\"", "element | one-ring | uniform", any,
     "each element its own; the smallest around its nodes; the smallest of all"},
    {"integrator", "lattice", choice, "", "\"auto\"",
     "auto | powers-of-two | powers-of-three | twos-and-threes | any | exact", any,
     "steps as multiples of one tick. auto: powers of two or three, whichever is faster, with nodal_safety = 0.9, "
     "tried on the model itself and tightened where they resonate (docs/stability.md); the others as named: tried and "
     "told, not changed; any: 1 to 8 and four an octave beyond, which keeps most of the saving but resonates first; "
     "exact: steps as they are, on the event queue, slow"},
    {"integrator", "coupling", choice, "", "\"auto\"", "auto | plain | mollified", any,
     "avi: where slow elements look at nodes of faster ones. plain: where those are, as in the papers, which makes "
     "motions faster by up to a per cent; mollified: where their smooth path is, for steps that nest, at 1.1 to 2.1 "
     "times the time (docs/accuracy.md); auto: plain where its predicted error is at most 1e-3, else mollified where "
     "steps nest"},
    {"integrator", "neighbour_ratio", number, "", "", "", one_or_more,
     "how many times the smallest step around it an element's step may be; omitted: any"},
    {"integrator", "nodal_safety", number, "", "", "", positive,
     "largest step as a fraction of the stable step 2 / omega of each single node within one ring of the element; "
     "omitted: 0.9 with lattice = \"auto\" (unless neighbour_ratio is given), otherwise none"},
    {"integrator", "trial", number, "", "0.05", "", not_negative,
     "part of the run's predicted time that may be spent on trying, before the run, whether its steps resonate; small "
     "models take 0.4 s at most; 0: not tried"},
    {"integrator", "mass_shares", choice, "", "\"auto\"", "auto | own | balanced", any,
     "the part of its nodes' masses an element's stable step counts with. own: what it brought; balanced: more for "
     "stiff elements, so that slivers lean on their neighbours and steps are larger; auto: own for a named lattice, "
     "balanced elsewhere"},
    {"integrator", "newmark_limit", choice, "", "\"element\"", "element | assembled", any,
     "newmark: safety counts from the smallest stable step of an element, or from that of the assembled mesh (larger)"},
    {"integrator", "residual", boolean, "", "false", "", any,
     "avi and newmark (without beta and gamma): measure the local energy residual of every element, and "
     "keep a ledger of kinetic energy, kick by kick (history.csv: ledger_error, what neither elements, loads, dampers "
     "nor "
     "supports have given [J]; rounding. Not with [[contact]], whose pushes are not watched)"},

    {"run", "end_time", number, "s", "required", "", positive, "the run goes from 0 to here"},
    {"run", "energy_tolerance", number, "", "", "", not_negative,
     "the run stops where the total energy has gained more than this fraction of what the motion has without the gain, "
     "which no load has given; 0: never; absent: 0.5, and 0.1 with layers of contact"},
    {"run", "checkpoint", number, "s", "300", "", not_negative,
     "wall time between checkpoints, from which `tempi run CASE --resume` goes on to the same bits; 0: none but those "
     "at SIGINT, SIGTERM, SIGHUP and wall_limit"},
    {"run", "wall_limit", number, "s", "", "", positive,
     "wall time after which the run writes a checkpoint and ends (exit code 130), to be gone on with by --resume; "
     "omitted: none"},

    {"output", "frames", integer, "", "", "", count,
     "intervals between pictures: 50 writes 51 frames; 0 writes none; omitted: 5 to 50, as many as take about a "
     "twentieth of the run"},
    {"output", "history", integer, "", "", "", at_least_one,
     "intervals between rows of history.csv; omitted: 50 to 1000, as many as take about a twentieth of the run; of "
     "implicit methods and static no more than steps, at whose ends they are"},
    {"output", "fields", words, "", "",
     "displacement | velocity | mass | updates | group | step | strain_energy | energy | stress | von_mises | "
     "curvature | configurational_force | "
     "energy_residual | energy_residual_last",
     any, "data of the frames to write (energy: of particles); omitted: all"},
    {"output", "configurational_forces", boolean, "", "false", "", any,
     "frames have the configurational forces of nodes, dV/dX - dT/dX at fixed places [N] (docs/configurational.md), "
     "and "
     "history.csv their sum over the nodes of each probe"},
    {"output", "float32", boolean, "", "false", "", any, "numbers of the frames in single precision: half the size"},
    {"output", "deformed", boolean, "", "true", "", any,
     "points of the frames where they are; false: where they are at rest, for ParaView's Warp By Vector "
     "of displacement"},
};

const std::vector<Option>& table() {
  static const std::string names = names_of_methods();
  static const std::vector<Option> all = [] {
    std::vector<Option> result(std::begin(rows), std::end(rows));
    for (Option& o : result)
      if (o.choices == methods) o.choices = names;
    return result;
  }();
  return all;
}

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string_view kind_name(OptionKind kind) {
  switch (kind) {
    case text: return "text";
    case choice: return "one of";
    case choice_or_count: return "one of these or an integer";
    case number: return "number";
    case integer: return "integer";
    case boolean: return "true or false";
    case numbers: return "numbers";
    case number_or_numbers: return "number or numbers";
    case integers: return "integers";
    case points: return "lists of numbers";
    case pairs: return "\"all\", a file or pairs of integers";
    case formula: return "number or expression";
    case formulas: return "numbers or expressions";
    case formula_or_formulas: return "numbers or expressions";
    case words: return "list of texts";
    case OptionKind::group: return "text or integer";
  }
  return "";
}

std::string values_of(const Option& o) {
  if (o.kind == choice) return std::string(o.choices);
  if (o.kind == choice_or_count) return fmt::format("{} | integer >= {}", o.choices, o.range.low);
  if (o.kind == words && !o.choices.empty()) return fmt::format("list of {}", o.choices);
  const std::string bounds = describe(o.range);
  return bounds.empty() ? std::string(kind_name(o.kind)) : fmt::format("{} {}", kind_name(o.kind), bounds);
}

std::string heading(const SectionInfo& s) {
  if (s.name.empty()) return "";
  return s.repeated ? fmt::format("[[{}]]", s.name) : fmt::format("[{}]", s.name);
}

}  // namespace

std::span<const Option> option_table() { return table(); }
std::span<const SectionInfo> section_table() { return sections; }

const Option& option(std::string_view section, std::string_view key) {
  const auto found =
      std::ranges::find_if(table(), [&](const Option& o) { return o.section == section && o.key == key; });
  TEMPI_ASSERT(found != table().end());
  return *found;
}

std::string describe(const Range& r) {
  std::string low, high;
  if (r.low > -std::numeric_limits<double>::infinity()) low = fmt::format("{} {}", r.low_closed ? ">=" : ">", r.low);
  if (r.high < std::numeric_limits<double>::infinity()) high = fmt::format("{} {}", r.high_closed ? "<=" : "<", r.high);
  return low.empty() || high.empty() ? low + high : low + " and " + high;
}

std::string nearest(std::string_view word, std::span<const std::string> known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 2) + 1;
  const auto alike = [&](std::string_view other) {  // at the beginning
    return std::ranges::mismatch(word, other).in1 - word.begin();
  };
  for (const std::string& candidate : known) {
    const std::size_t n = edits(word, candidate);
    if (n > least || (n == least && (best.empty() || alike(candidate) <= alike(best)))) continue;
    least = n;
    best = candidate;
  }
  return best;
}

bool has_key(std::string_view keys, std::string_view key) {
  return fmt::format(" {} ", keys).find(fmt::format(" {} ", key)) != std::string::npos;
}

std::vector<std::string> choices_of(const Option& o) {
  std::vector<std::string> result;
  for (std::string_view rest = o.choices; !rest.empty();) {
    const std::size_t bar = rest.find(" | ");
    result.emplace_back(rest.substr(0, bar));
    rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 3);
  }
  return result;
}

std::string options_as_text() {
  std::string out;
  for (const SectionInfo& s : sections) {
    out += fmt::format("{}{}{}\n", heading(s), s.name.empty() ? "" : "  ", s.text);
    if (s.name == "constants") out += "  NAME = number\n";
    for (const Option& o : table()) {
      if (o.section != s.name) continue;
      const std::string unit = o.unit.empty() ? "" : fmt::format(" [{}]", o.unit);
      const std::string fallback = o.fallback.empty()         ? "optional"
                                   : o.fallback == "required" ? "required"
                                                              : fmt::format("default {}", o.fallback);
      out += fmt::format("  {:<13}{} ({}; {})\n      {}\n", o.key, unit, values_of(o), fallback, o.text);
    }
    out += "\n";
  }
  return out;
}

std::string options_as_markdown() {
  std::string out =
      "# The case file\n\nOne table a section. Made from the program's own option table (`tempi options --markdown`): "
      "do not edit.\n\nAn expression is a text with `X`, `Y`, `Z` (reference position, in metres after `scale`), `t` "
      "(seconds), `pi`, your\n`[constants]`, the operators `+ - * / ^ < <= > >= == != && || ?:` and the functions "
      "`sin cos tan asin acos atan atan2\nsinh cosh tanh exp ln log10 log2 sqrt abs min max sign rint`.\n";
  for (const SectionInfo& s : sections) {
    out += fmt::format("\n## {}\n\n{}\n\n", s.name.empty() ? "Top level" : fmt::format("`{}`", heading(s)), s.text);
    if (s.name == "constants") {
      out += "`NAME = number`, any number of them.\n";
      continue;
    }
    out += "| key | unit | values | default | meaning |\n|---|---|---|---|---|\n";
    for (const Option& o : table()) {
      if (o.section != s.name) continue;
      std::string values = values_of(o);
      for (std::size_t at = 0; (at = values.find('|', at)) != std::string::npos; at += 2) values.insert(at, "\\");
      const std::string fallback =
          o.fallback == "required" || o.fallback.empty() ? std::string(o.fallback) : fmt::format("`{}`", o.fallback);
      out += fmt::format("| `{}` | {} | {} | {} | {} |\n", o.key, o.unit, values, fallback, o.text);
    }
  }
  return out;
}

}  // namespace tempi
