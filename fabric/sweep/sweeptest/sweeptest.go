// SPDX-License-Identifier: Apache-2.0

// Package sweeptest compares computed tables with the tables that a subnet manager has written.
package sweeptest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
)

// SL2VL compares the computed SL2VL tables of linked ports with those that were read. For a switch port it compares the
// tables for packets from each port of the switch.
func SL2VL(live *sweep.Result, ours *fabric.SL2VL) error {
	f := live.Fabric
	for i := range f.NumNodes() {
		n := &f.Nodes[i]
		ports := []uint8{}
		for p := range fabric.PortIndex(n.NumPorts) + 1 {
			if f.Ports[n.FirstPort+p].Linked() {
				ports = append(ports, uint8(p))
			}
		}
		ins := uint8(1)
		if n.IsSwitch() {
			ins = n.NumPorts + 1
		}
		for _, out := range ports {
			for in := range ins {
				if want, got := live.Tables.SL2VL.VLs(i, in, out), ours.VLs(i, in, out); want != got {
					return fmt.Errorf("%s maps from port %d to %d\n%v, ours is\n%v", f.NodeName(i), in, out, want, got)
				}
			}
		}
	}
	return nil
}

// pathsAsked is the maximum number of paths whose records are read.
const pathsAsked = 600

// PathSLs compares computed SLs with those of the path records between end ports. It considers pairs for which the
// tables have a path in both directions. If there are many pairs, it selects some at random.
func PathSLs(ctx context.Context, client *mad.Client, r *rand.Rand, t *fabric.Tables, ours fabric.PathSLs) error {
	admin, err := sa.New(ctx, client)
	if err != nil {
		return err
	}
	var differ error
	batch := client.NewBatch(ctx)
	ends := t.Fabric.EndPorts
	pairs := len(ends) * len(ends)
	for k := range min(pairs, pathsAsked) {
		if pairs > pathsAsked {
			k = r.IntN(pairs)
		}
		src, dst := t.Fabric.Ports[ends[k/len(ends)]].LID, t.Fabric.Ports[ends[k%len(ends)]].LID
		rec := sa.PathRecord{SLID: src, DLID: dst, NumPath: 1}
		batch.Go(admin.Request(mad.MethodGet, &rec, sa.PathSLID|sa.PathDLID|sa.PathNumPath, 0), func(reply *mad.Reply) {
			// The subnet administration has no path record for a switch without a route.
			routed := t.Port(0, dst) != fabric.NoPath && t.Port(0, src) != fabric.NoPath
			records, err := sa.Records[sa.PathRecord](reply)
			switch {
			case err != nil && routed && differ == nil:
				differ = fmt.Errorf("path from LID %d to %d: %w", src, dst, err)
			case err == nil && len(records) == 1 && records[0].SL != ours.SL(src, dst) && differ == nil:
				differ = fmt.Errorf("OpenSM gives the path from LID %d to %d service level %d, we %d", src, dst,
					records[0].SL, ours.SL(src, dst))
			}
		})
	}
	return errors.Join(batch.Wait(), differ)
}
