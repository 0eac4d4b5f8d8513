// SPDX-License-Identifier: Apache-2.0

// Package census follows the packets of all pairs through the tables and groups similar ones: paths from the same first
// switch to the same last one, by the switches that they pass, and paths that end at the same place elsewhere.
//
// Pairs and paths are those of [trees.Ends]. No path is sampled, and none is walked separately: see package trees.
package census
