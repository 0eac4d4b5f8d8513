// SPDX-License-Identifier: Apache-2.0

// Package census follows the packets of many pairs through the tables and puts
// together what is alike: paths from the same first switch to the same last one, by
// the switches that they pass, and paths that end at the same place elsewhere.
//
// A pair is an end port, ports 0 of switches among them, and a LID of another. No
// path is sampled, and none is walked alone: see package trees.
package census
