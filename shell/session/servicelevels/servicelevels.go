// SPDX-License-Identifier: Apache-2.0

// Package servicelevels determines whether hosts receive the service levels that a routing needs.
package servicelevels

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/session/connection"
)

// Proof states whether hosts will receive the service levels that a routing needs. Hosts receive them from the subnet
// administration; a commit does not write them.
type Proof struct {
	// Origin is the origin of the tables.
	Origin string
	// Asked is the number of path records that were requested from the master's subnet administration, out of Pairs. It
	// is 0 if there is no master. Granted is the number of those that have the SL that the routing needs.
	Asked   int
	Granted int
	Pairs   int64
	// Refused describes a path record that does not have the needed SL. It is "" if there is none.
	Refused string
	// Plain is set if the routing is free of credit loops with SL 0 on all paths. This is not checked if all SLs are
	// granted.
	Plain bool
}

// AllGranted reports whether the subnet administration grants the needed SL for every requested record.
func (l *Proof) AllGranted() bool { return l.Asked > 0 && l.Granted == l.Asked }

// Safe reports whether the routing cannot deadlock with the SLs that hosts receive.
func (l *Proof) Safe() bool { return l.AllGranted() || l.Plain }

// Error is returned for a routing that is free of deadlock only with service levels that hosts do not receive.
type Error struct{ Proof Proof }

func (e *Error) Error() string {
	return fmt.Sprintf("the routes of %s are free of credit loops by their service levels alone, and hosts get those "+
		"from the subnet administration: %s. "+
		"With SL 0 everywhere they have credit loops; hint: 'handover DIR' writes files for the subnet manager",
		e.Proof.Origin, e.Proof.Why())
}

// Why returns a text about the SLs that the subnet administration grants.
func (l *Proof) Why() string {
	switch {
	case l.Asked == 0 && l.Refused != "":
		return l.Refused
	case l.Asked == 0:
		return "there is no master subnet manager"
	case l.AllGranted() && int64(l.Asked) == l.Pairs:
		return fmt.Sprintf("it grants them in all %d path records", l.Asked)
	case l.AllGranted():
		return fmt.Sprintf("it grants them in all %d path records asked for, of %d pairs", l.Asked, l.Pairs)
	}
	return fmt.Sprintf("it grants them in %d of %d path records, and not in that of %s", l.Granted, l.Asked, l.Refused)
}

// Prove determines whether tables that need service levels can be written. This is so if the subnet administration
// grants the SLs. It is also so if, with SL 0 on all paths and the VLs after the commit, there are no credit loops. It
// returns nil for tables that need no SLs.
func Prove(ctx context.Context, conn *connection.Connection, live, staged *fabric.Tables, master bool,
	progress func(done, total int)) (*Proof, error) {
	if staged.SLs == nil {
		return nil, nil
	}
	l := &Proof{Origin: staged.Origin}
	if master {
		if err := l.Ask(ctx, conn, live, staged, progress); err != nil {
			return nil, err
		}
		if l.AllGranted() {
			return l, nil
		}
	}
	plain := *staged
	plain.SLs, plain.Unread = nil, fabric.Unread{}
	if plain.SL2VL == nil && live.SL2VL != nil && fabric.Same(live.Fabric, staged.Fabric) {
		plain.SL2VL = live.SL2VL
	}
	res, err := credits.Check(ctx, &plain, credits.Options{})
	if err != nil {
		return nil, err
	}
	l.Plain = res.Ring == nil
	return l, nil
}

// maxRecords is the maximum number of path records that are requested.
const maxRecords = 4096

// Ask requests the path records of all pairs of hosts. If there are too many pairs, it requests a sample whose hosts
// are on as many pairs of leaf switches as possible. Without a response nothing is granted; this is not an error.
func (l *Proof) Ask(ctx context.Context, conn *connection.Connection, live, staged *fabric.Tables,
	progress func(done, total int)) error {
	c, err := conn.SA(ctx)
	if err != nil {
		l.Refused = fmt.Sprintf("it does not respond (%v)", err)
		return ctx.Err()
	}
	leaves := hostsByLeaf(live.Fabric, staged.Fabric)
	pairs := hostPairs(leaves)
	hosts := int64(0)
	for _, leaf := range leaves {
		hosts += int64(len(leaf))
	}
	l.Pairs = hosts * (hosts - 1)
	f := live.Fabric
	for i, p := range pairs {
		r, err := sa.Get(ctx, c, sa.PathRecord{SLID: f.Ports[p[0]].LID, DLID: f.Ports[p[1]].LID, NumPath: 1},
			sa.PathSLID|sa.PathDLID|sa.PathNumPath)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.Asked++
		src, dst := lidOf(staged.Fabric, f.Ports[p[0]].GUID), lidOf(staged.Fabric, f.Ports[p[1]].GUID)
		want := staged.SLRange(src, dst)
		switch {
		case errors.Is(err, sa.NoRecords): // without a common partition there are no packets
			l.Asked--
		case err == nil && want.Has(r.SL):
			l.Granted++
		case err != nil:
			l.Refused = fmt.Sprintf("%s to %s: %v", f.PortName(p[0]), f.PortName(p[1]), err)
			return nil // one is enough, and each may take long
		case l.Refused == "":
			l.Refused = fmt.Sprintf("%s to %s, where the routing needs SL %s and it grants %d", f.PortName(p[0]),
				f.PortName(p[1]), want, r.SL)
		}
		progress(i+1, len(pairs))
	}
	if l.Asked == 0 {
		l.Refused = "it has no path record between any two hosts"
	}
	return nil
}

// lidOf returns the LID of a port.
func lidOf(f *fabric.Fabric, guid uint64) uint16 { return f.Ports[f.PortByGUID(guid)].LID }

// hostsByLeaf returns the host ports that are in both fabrics, grouped by the switch to which they are attached.
func hostsByLeaf(live, staged *fabric.Fabric) [][]fabric.PortIndex {
	at := map[fabric.SwitchIndex]int{}
	var leaves [][]fabric.PortIndex
	for _, e := range live.EndPorts {
		s := staged.PortByGUID(live.Ports[e].GUID)
		if live.Nodes[live.Ports[e].Node].IsSwitch() || live.Ports[e].LID == 0 || s == fabric.None ||
			!staged.Nodes[staged.Ports[s].Node].InSubnet {
			continue
		}
		sw, _ := live.AttachedSwitch(e)
		i, ok := at[sw]
		if !ok {
			i = len(leaves)
			at[sw], leaves = i, append(leaves, nil)
		}
		leaves[i] = append(leaves[i], e)
	}
	return leaves
}

// hostPairs returns all pairs of hosts if their number is within the limit. Otherwise it returns random pairs of hosts
// on different leaf switches. The seed is fixed.
func hostPairs(leaves [][]fabric.PortIndex) (pairs [][2]fabric.PortIndex) {
	var all []fabric.PortIndex
	for _, leaf := range leaves {
		all = append(all, leaf...)
	}
	if len(all)*(len(all)-1) <= maxRecords {
		for _, src := range all {
			for _, dst := range all {
				if src != dst {
					pairs = append(pairs, [2]fabric.PortIndex{src, dst})
				}
			}
		}
		return pairs
	}
	rnd := rand.New(rand.NewPCG(1, uint64(len(all))))
	host := func(leaf int) fabric.PortIndex { return leaves[leaf][rnd.IntN(len(leaves[leaf]))] }
	if n := len(leaves); n*(n-1) <= maxRecords {
		for i := range leaves {
			for j := range leaves {
				if i != j {
					pairs = append(pairs, [2]fabric.PortIndex{host(i), host(j)})
				}
			}
		}
	}
	for len(pairs) < maxRecords {
		if i, j := all[rnd.IntN(len(all))], all[rnd.IntN(len(all))]; i != j {
			pairs = append(pairs, [2]fabric.PortIndex{i, j})
		}
	}
	return pairs
}
