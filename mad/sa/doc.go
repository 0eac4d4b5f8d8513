// SPDX-License-Identifier: Apache-2.0

// Package sa reads and changes records of a subnet administration. It also encodes and decodes these records. Answers
// may be segmented.
//
//	c, err := sa.New(ctx, client) // finds the subnet manager
//	nodes, err := sa.GetTable(ctx, c, sa.NodeRecord{}, 0)
//	path, err := sa.Get(ctx, c, sa.PathRecord{SLID: 4, DLID: 7}, sa.PathSLID|sa.PathDLID)
//
// A [Mask] selects the components of the given record. An answer must have the same values in these components.
//
// References "IBA" mean the InfiniBand Architecture Specification, volume 1, release 1.2.1.
package sa
