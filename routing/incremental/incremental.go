// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"bytes"
	"context"
	"errors"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// ErrNoTables says that there is nothing to go on from.
var ErrNoTables = errors.New("incremental routing goes on from the tables of the base, and there are none")

// Unreached is a switch from which a LID cannot be reached any more.
type Unreached struct {
	Switch int32
	LID    uint16
}

// Result is what [Route] made.
type Result struct {
	Tables *fabric.Tables
	// Touched counts the entries that are others than before, Switches those that
	// have some.
	Touched, Switches int
	// Unreached are the entries for which there is no way; they are as they were.
	Unreached []Unreached
	// Looked counts the entries that had to be looked at one by one.
	Looked int
	// Changes are what differs, with what that invalidates.
	Changes []Verdict
}

// Route adapts tables to f. Old switches and ports are found by their GUIDs,
// unless the fabrics have the same indexes, as those of failures on paper do.
// O(changed links x LIDs + touched entries x ports), besides a copy of the tables.
func Route(ctx context.Context, f *fabric.Fabric, old *fabric.Tables, opt routing.Options) (*Result, error) {
	if old == nil {
		return nil, ErrNoTables
	}
	r := newRepair(f, old)
	todo := r.todo()
	for i, d := range todo {
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if opt.Progress != nil {
				opt.Progress(i, len(todo))
			}
		}
		r.lid(d.lid, d.broken, d.anew)
	}
	if opt.Progress != nil {
		opt.Progress(len(todo), len(todo))
	}
	return r.result(), nil
}

// task is a LID with the switches whose entries for it no longer lead anywhere.
type task struct {
	lid    uint16
	broken []int32
	// anew says that all switches are to be routed anew for it.
	anew bool
}

// todo finds what is broken.
func (r *repair) todo() []task {
	anew := r.movedLIDs()
	broken := map[uint16][]int32{}
	for sw := range r.f.Switches {
		switch s := int32(sw); {
		case !r.f.SwitchNode(s).InSubnet:
		case !r.routed(s):
			for lid := range int(r.f.MaxLID) + 1 {
				if r.owned(uint16(lid)) {
					broken[uint16(lid)] = append(broken[uint16(lid)], s)
				}
			}
		default:
			r.deadEntries(s, broken)
		}
	}
	var all []task
	for lid := range int(r.f.MaxLID) + 1 {
		d := uint16(lid)
		if anew[d] || len(broken[d]) > 0 {
			all = append(all, task{d, broken[d], anew[d]})
		}
	}
	return all
}

// routed says whether a switch had tables before.
func (r *repair) routed(s int32) bool {
	was := r.before[s]
	return was != fabric.None && r.old.Known[was] && r.old.Fabric.SwitchNode(was).InSubnet
}

// owned says whether a LID is to be routed: a port of the subnet has it.
func (r *repair) owned(lid uint16) bool {
	port := r.f.PortByLID(lid)
	return port != fabric.None && r.f.Nodes[r.f.Ports[port].Node].InSubnet
}

// deadEntries finds the entries of a switch that lead out of ports whose link has
// gone.
func (r *repair) deadEntries(s int32, broken map[uint16][]int32) {
	n, was := r.f.SwitchNode(s), r.old.Fabric.SwitchNode(r.before[s])
	for p := 1; p <= int(min(n.NumPorts, was.NumPorts)); p++ {
		before := r.old.Fabric.PeerNode(was.FirstPort + int32(p))
		if before == fabric.None || r.samePeer(before, r.f.PeerNode(n.FirstPort+int32(p))) {
			continue
		}
		row := r.lft.Row(s)[:int(r.f.MaxLID)+1]
		for from := 0; ; {
			i := bytes.IndexByte(row[from:], byte(p))
			if i < 0 {
				break
			}
			from += i + 1
			r.looked++
			if lid := uint16(from - 1); r.owned(lid) {
				broken[lid] = append(broken[lid], s)
			}
		}
	}
}

// samePeer says whether a link still leads to the node that it led to.
func (r *repair) samePeer(before, now int32) bool {
	return now != fabric.None && r.f.Nodes[now].GUID == r.old.Fabric.Nodes[before].GUID
}

// movedLIDs are the LIDs whose port is another one than before, or hangs elsewhere.
func (r *repair) movedLIDs() map[uint16]bool {
	moved := map[uint16]bool{}
	was := r.old.Fabric
	for _, e := range r.f.EndPorts {
		port := &r.f.Ports[e]
		if port.LID == 0 {
			continue
		}
		for lid := int(port.LID); lid < int(port.LID)+1<<port.LMC; lid++ {
			o := was.PortByLID(uint16(lid))
			if o == fabric.None || was.Ports[o].GUID != port.GUID || lid > int(r.old.LFT.MaxLID) || !r.sameSwitch(o, e) {
				moved[uint16(lid)] = true
			}
		}
	}
	return moved
}

// sameSwitch says whether an end port hangs on the port of a switch that it hung
// on before.
func (r *repair) sameSwitch(before, now int32) bool {
	sw, num := r.f.AttachedSwitch(now)
	oldSW, oldNum := r.old.Fabric.AttachedSwitch(before)
	if sw == fabric.None || oldSW == fabric.None {
		return sw == oldSW
	}
	return num == oldNum && r.before[sw] == oldSW
}
