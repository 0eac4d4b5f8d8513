// SPDX-License-Identifier: Apache-2.0

// Package classify finds out what the nodes of a subnet are for: which switches are leaves and which are
// roots, which adapters compute and which serve. From that it makes the files that OpenSM's fat-tree routing
// wants to be given, and tries them.
//
// Aggregation nodes, adapters that are part of a switch, are attached to spines too. OpenSM takes every
// adapter for a compute node unless told, and no fabric with them for a fat-tree.
package classify
