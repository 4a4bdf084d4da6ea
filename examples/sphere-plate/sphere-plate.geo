// Radii 0.125 and 0.35 (Vouga and others 2010, section 5); the gap is ours.
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0.133, 0.125};
Disk(100) = {0, 0, 0, 0.35};
Delete { Volume{1}; }
Physical Surface("ball") = {1};
Physical Surface("plate") = {100};
