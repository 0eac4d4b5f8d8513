// SPDX-License-Identifier: Apache-2.0

// Package servicelevels determines whether hosts get the service levels that a routing needs.
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

// Proof states whether hosts get the service levels that a routing needs once it is written. Hosts get them from the
// subnet administration; a commit does not write them.
type Proof struct {
	// Origin is the origin of the tables.
	Origin string
	// Asked is how many path records, of Pairs, were requested from the master's subnet administration. Granted of them
	// have the SL that the routing needs. Asked is 0 if there is no master.
	Asked   int
	Granted int
	Pairs   int64
	// Refused is an example of the others, as text, "" for none.
	Refused string
	// Plain is true if the routing is free of credit loops with SL 0 everywhere. It is not checked if everything is
	// granted.
	Plain bool
}

// AllGranted reports whether the subnet administration grants what the routing needs.
func (l *Proof) AllGranted() bool { return l.Asked > 0 && l.Granted == l.Asked }

// Safe reports whether the routing does not deadlock with the SLs that hosts get.
func (l *Proof) Safe() bool { return l.AllGranted() || l.Plain }

// Error reports a routing that is free of deadlock only with service levels that hosts do not get.
type Error struct{ Proof Proof }

func (e *Error) Error() string {
	return fmt.Sprintf("the routes of %s are free of credit loops by their service levels alone, and hosts get those "+
		"from the subnet administration: %s. "+
		"With SL 0 everywhere they have credit loops (try: handover DIR, for the subnet manager to route so)",
		e.Proof.Origin, e.Proof.Why())
}

// Why returns what the subnet administration grants, as text.
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

// Prove determines whether tables that need service levels can be written: the subnet administration grants the SLs, or
// there are no credit loops with SL 0 everywhere on the VLs after the commit. It returns nil for tables that need no
// SLs.
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

// maxRecords is how many path records are requested at most.
const maxRecords = 4096

// Ask requests the path records of all pairs of hosts, or, of too many, those of a sample with hosts on as many pairs
// of leaf switches as possible. Without a response nothing is granted, which is not an error.
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
		want, _ := staged.SL(src, dst)
		switch {
		case errors.Is(err, sa.NoRecords): // without a common partition there are no packets
			l.Asked--
		case err == nil && staged.MayHaveSL(src, dst, r.SL):
			l.Granted++
		case err != nil:
			l.Refused = fmt.Sprintf("%s to %s: %v", f.PortName(p[0]), f.PortName(p[1]), err)
			return nil // one is enough, and each may take long
		case l.Refused == "":
			l.Refused = fmt.Sprintf("%s to %s, where the routing needs SL %d and it grants %d", f.PortName(p[0]),
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

// hostsByLeaf returns the ports of hosts in both fabrics, by the switch that they are attached to.
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

// hostPairs returns all pairs of hosts up to a limit, otherwise pairs of hosts on different leaf switches, chosen at
// random with a fixed seed.
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
