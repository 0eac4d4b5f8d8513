// SPDX-License-Identifier: Apache-2.0

// Package linkload counts the paths that tables lay over each link: for all pairs of
// ports, towards one destination, and for patterns of communication.
//
// A link is counted for each of its directions, which is named by the port that packets leave by. Only paths
// that arrive are counted. Three kinds of links are kept apart: from hosts, to hosts and between switches.
//
// Measures by their published names:
//
//   - Edge forwarding index: the most paths over one direction of a link between
//     switches, all pairs of hosts having one path for each LID of the destination
//     (Heydemann, Meyer, Sotteau, "On forwarding indices of networks", 1989).
//     [Summary.EdgeForwardingIndex].
//   - Shift figure: host i sends to host i+k, for each k from 1 to N-1 in turn; the
//     most paths over one direction of any link in any of these shifts. 1 says that
//     no shift has contention (Zahavi, "D-Mod-K routing providing non-blocking
//     traffic for shift permutations on real life fat trees", 2010). [Shifts].
//   - Effective bisection bandwidth: the hosts are split at random into two halves,
//     and each host of the first sends to one of the second. A path has the share
//     1/c of its bandwidth, where c is the most paths over any link of it. The mean
//     of the shares over all paths and many such splits (Hoefler, Schneider,
//     Lumsdaine, "Multistage switches are not crossbars: effects of static routing
//     in high-performance networks", 2008). [Bisections].
//
// All three count paths and take links as equal; [Loads] also has the loads of links by width and speed.
package linkload
