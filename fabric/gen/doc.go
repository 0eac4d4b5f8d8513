// SPDX-License-Identifier: Apache-2.0

// Package gen makes fabrics of regular shape: fat-trees, pruned trees, tori,
// meshes, hypercubes, dragonflies and random graphs.
//
// A made fabric is what ibsim makes of the file that [WriteNet] writes for it: the same GUIDs, descriptions,
// port states, widths and speeds, no LIDs. Its nodes are in the order of that file, hosts first, so the SM
// sits on the first host.
package gen
