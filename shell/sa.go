// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func saCommands() []Spec {
	return []Spec{{
		Name: "sa", Summary: "what the subnet administration says, beside what the switches hold", Subcommands: []Spec{
			{Name: "path", Summary: "the path records from SRC to DST, or to all", Run: (*call).saPath,
				Args: []lang.Arg{{Name: "SRC", Kind: lang.KindPlace}, {Name: "DST|all", Kind: lang.KindPlace, Words: []string{allWord}}}},
			{Name: "nodes", Summary: "the nodes that it knows and the sweep did not see, and the other way round", Run: (*call).saNodes},
			saGroupsSpec(),
		}}}
}

func (c *call) saPath() error {
	st := c.session.State()
	f := st.Live.Fabric
	pairs, err := pairsOf(f, c.Args, true)
	if err == nil {
		err = session.Addressed(f, pairs...)
	}
	if err != nil {
		return err
	}
	differ := 0
	return c.list([]string{"FROM", "TO", "SL", "MTU", "RATE", "TABLES"}, func(yield func(Row, error) bool) {
		err := c.session.PathRecords(c.ctx, pairs, func(p session.Pair, r sa.PathRecord, err error) error {
			row := pathRow{From: f.PortName(p.Src), To: f.PortName(p.Dst)}
			if err != nil {
				row.Error = err.Error()
				row.Tables = "no record: " + err.Error()
			} else {
				row.SLID, row.DLID, row.SL, row.MTU, row.Gbps = r.SLID, r.DLID, r.SL, fmt.Sprint(r.MTU), r.Rate.Gbps()
				row.Tables = beside(st.Live, p, &r)
			}
			if row.Tables != agree {
				differ++
			}
			if !yield(row, nil) {
				return errStopped
			}
			return nil
		})
		switch {
		case errors.Is(err, errStopped):
		case err != nil:
			yield(nil, err)
		default:
			c.out.note("%s asked for, %d differ from the tables", count(len(pairs), "record"), differ)
		}
	})
}

type pathRow struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	SLID   uint16  `json:"slid"`
	DLID   uint16  `json:"dlid"`
	SL     uint8   `json:"sl"`
	MTU    string  `json:"mtu,omitempty"`
	Gbps   float64 `json:"gbps,omitempty"`
	Tables string  `json:"tables"`
	Error  string  `json:"error,omitempty"`
}

func (r pathRow) Cells() []any {
	if r.Error != "" {
		return []any{r.From, r.To, "", "", "", r.Tables}
	}
	return []any{r.From, r.To, r.SL, r.MTU, fmt.Sprintf("%g Gb/s", r.Gbps), r.Tables}
}

const agree = "agree"

// beside compares a record with the path through the tables.
func beside(live *session.Picture, p session.Pair, r *sa.PathRecord) string {
	f := live.Fabric
	if r.DLID != p.LID || f.PortByLID(r.SLID) != p.Src {
		return fmt.Sprintf("the record is for LID %d to %d", r.SLID, r.DLID)
	}
	if live.Tables == nil {
		return "not read"
	}
	path := walk.Trace(live.Tables, p.Src, p.LID)
	if !path.Verdict.Arrives() {
		return path.Explain(f)
	}
	if is, known := live.Tables.SL(r.SLID, r.DLID); known && !live.Tables.MayHaveSL(r.SLID, r.DLID, r.SL) {
		return fmt.Sprintf("by the tables the path has SL %d", is)
	}
	// The ports 0 of switches have rates of their own, which sweeps do not keep.
	toSwitch := f.Ports[p.Src].Num == 0 || f.Ports[f.PortByLID(p.LID)].Num == 0
	ports := []fabric.PortIndex{p.Src, f.PortByLID(p.LID)}
	for _, h := range path.Hops {
		if h.Out != fabric.None {
			ports = append(ports, h.Out)
		}
	}
	slowest := 0.0
	for _, port := range ports {
		if g := f.Ports[port].Gbps(); g > 0 && (slowest == 0 || g < slowest) {
			slowest = g
		}
	}
	off := r.Rate.Gbps() - slowest
	if slowest > 0 && (off > 0.01 || off < -0.01 && !toSwitch) {
		return fmt.Sprintf("the slowest link of the path has %g Gb/s", slowest)
	}
	return agree
}

// saNodes compares the nodes that the subnet administration knows with the sweep's.
func (c *call) saNodes() error {
	records, err := c.session.NodeRecords(c.ctx)
	if err != nil {
		return err
	}
	f := c.session.State().Live.Fabric
	known := map[uint64]bool{}
	var theirs, ours []string
	for i := range records {
		info := &records[i].Info
		known[info.NodeGUID] = true
		if f.NodeByGUID(info.NodeGUID) == fabric.None {
			theirs = append(theirs, fmt.Sprintf("%s 0x%016x", fabric.Escape(records[i].Description.String()), info.NodeGUID))
		}
	}
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.InSubnet && !known[n.GUID] {
			ours = append(ours, f.NodeName(fabric.NodeIndex(i)))
		}
	}
	return c.out.Answer(saNodes{len(records), theirs, ours})
}

type saNodes struct {
	Records int      `json:"records"`
	Theirs  []string `json:"not_swept,omitempty"`
	Ours    []string `json:"not_recorded,omitempty"`
}

func (a saNodes) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "the subnet administration has %s\n", count(a.Records, "node record"))
	list(w, "not seen by the sweep", a.Theirs)
	list(w, "without a record", a.Ours)
}
