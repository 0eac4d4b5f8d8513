// SPDX-License-Identifier: Apache-2.0

// Package trees goes through forwarding tables one destination LID at a time, on all processors.
//
// A switch forwards by the destination alone, so that the paths of all sources to one LID make a tree over
// the switches. Sources that are attached to one switch share their path, and are a group. What holds for all
// pairs of ports is so found in O(LIDs x switches) instead of O(pairs x hops).
package trees
