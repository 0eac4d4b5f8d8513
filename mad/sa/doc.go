// SPDX-License-Identifier: Apache-2.0

// Package sa asks a subnet administration for a record or a table, in many segments perhaps, and codes records.
//
//	c, err := sa.New(ctx, client) // reads where the subnet manager is
//	nodes, err := sa.GetTable(ctx, c, sa.NodeRecord{}, 0)
//	path, err := sa.Get(ctx, c, sa.PathRecord{SLID: 4, DLID: 7}, sa.PathSLID|sa.PathDLID)
//
// A [Mask] says which components of the record that is handed over have to be so.
//
// The other side is here, too, for a simulated subnet: [ParseRequest] and
// [Header.Answer]; and mad.Segmenter for answers of more than one segment.
//
// References "IBA" are to the InfiniBand Architecture Specification, volume 1, release 1.2.1.
package sa
