// A bar, soft to the left of X = 0.6 and stiff to the right.
Point(1) = {0, 0, 0};
Point(2) = {0.6, 0, 0};
Point(3) = {1, 0, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Physical Curve("soft") = {1};
Physical Curve("stiff") = {2};
