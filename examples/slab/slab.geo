// Slab 2 m by 0.5 m, finer at the clamped side: 88 six-node triangles; refined by quadrisection (mesh.refine).
Point(1) = {0, 0, 0, 0.092};
Point(2) = {2, 0, 0, 0.43};
Point(3) = {2, 0.5, 0, 0.43};
Point(4) = {0, 0.5, 0, 0.092};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Physical Curve("clamp") = {4};
Physical Surface("slab") = {1};
