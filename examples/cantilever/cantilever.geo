// A soft beam with a stiff piece in it.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 0.45, 0.1, 0.1};
Box(2) = {0.45, 0, 0, 0.08, 0.1, 0.1};
Box(3) = {0.53, 0, 0, 0.47, 0.1, 0.1};
BooleanFragments{ Volume{1}; Delete; }{ Volume{2, 3}; Delete; }
Physical Volume("soft") = {1, 3};
Physical Volume("stiff") = {2};
