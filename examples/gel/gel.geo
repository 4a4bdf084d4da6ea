// Two balls of gel, 0.10 m from centre to centre of equal ones (the gap stays); some 17,000 tetrahedra each.
SetFactory("OpenCASCADE");
target = 0.025;   // radii
incoming = 0.025;
cells = 9.4;      // of a radius
gap = 0.05;
Sphere(1) = {0, 0, 0, target};
Sphere(2) = {target + gap + incoming, 0, 0, incoming};
Physical Volume("target") = {1};
Physical Volume("incoming") = {2};
MeshSize{ PointsOf{ Volume{1}; } } = target / cells;
MeshSize{ PointsOf{ Volume{2}; } } = incoming / cells;
