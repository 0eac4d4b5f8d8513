// SPDX-License-Identifier: Apache-2.0

// Package gen makes fat-trees, pruned trees, tori, meshes, hypercubes, dragonflies and random graphs.
//
// A made fabric is what ibsim makes of the file that [WriteNet] writes for it: the same GUIDs, descriptions, port
// states, widths and speeds, no LIDs; nodes in the file's order, hosts first, so the SM is on the first host.
package gen
