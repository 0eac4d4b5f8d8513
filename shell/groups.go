// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

const mlidPrefix = "mlid:" // begins the name of a multicast LID

// parseMLID reads a multicast LID: mlid:0xC000, 0xC000 or 49152.
func parseMLID(text string) (uint16, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, mlidPrefix), 0, 16)
	if err != nil || n < fabric.FirstMLID || n > fabric.LastMLID {
		return 0, fmt.Errorf("%q is no multicast LID, expected 0x%X to 0x%X", text, fabric.FirstMLID, fabric.LastMLID)
	}
	return uint16(n), nil
}

func mlidText(mlid uint16) string { return fmt.Sprintf("0x%04x", mlid) }

func saGroupsSpec() Spec {
	return Spec{
		Name: "groups", Summary: "take the multicast groups and their members from it, for show groups, route and check mcast", Run: (*call).saGroups,
		Options: []lang.Option{{Name: "key", Kind: lang.KindText, Value: "KEY", Summary: fmt.Sprintf("its SA_Key, without which it does not name members: that of --mkeys, else 0x%x, OpenSM's default; others see what stands in -c", sweep.DefaultSAKey)}},
	}
}

// Private reports whether a line holds a key, which is not to be kept in a file.
func Private(line string) bool {
	return slices.ContainsFunc(strings.Fields(line), func(word string) bool { return strings.HasPrefix(word, "key=") })
}

func (c *call) saGroups() error {
	var key *uint64
	if text := c.Option("key", ""); text != "" {
		n, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			return c.Misused("what key= says is no key, expected a number of 64 bits")
		}
		key = &n
	}
	g, notes, err := c.session.ReadGroups(c.ctx, key)
	if err != nil {
		return err
	}
	members := 0
	for i := range g.List {
		members += len(g.List[i].Members)
	}
	return c.out.Answer(groupsTaken{len(g.List), members, notes, g.Origin})
}

type groupsTaken struct {
	Groups  int      `json:"groups"`
	Members int      `json:"members"`
	Notes   []string `json:"notes,omitempty"`
	origin  string
}

func (a groupsTaken) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s with %s taken from %s\n", count(a.Groups, "multicast group"), count(a.Members, "member"), a.origin)
	list(w, "note", a.Notes)
}

type groupRow struct {
	leads
	MLID     string  `json:"mlid"`
	MGID     string  `json:"mgid,omitempty"`
	PKey     string  `json:"pkey,omitempty"`
	SL       uint8   `json:"sl"`
	MTU      string  `json:"mtu,omitempty"`
	Gbps     float64 `json:"gbps,omitempty"`
	Members  int     `json:"members"`
	Gone     int     `json:"not_in_subnet"`
	Switches int     `json:"switches"` // that have entries for the LID, -1 where tables are not known
}

func (r groupRow) Cells() []any {
	rate, members, switches := "-", fmt.Sprint(r.Members), "-"
	if r.Gbps > 0 {
		rate = fmt.Sprintf("%g Gb/s", r.Gbps)
	}
	if r.Gone > 0 {
		members += fmt.Sprintf(" (%d not in the subnet)", r.Gone)
	}
	if r.Switches >= 0 {
		switches = fmt.Sprint(r.Switches)
	}
	return []any{r.MLID, orDash(r.MGID), orDash(r.PKey), r.SL, orDash(r.MTU), rate, members, switches}
}

// showGroups lists all groups, or the members of those of one LID.
func (c *call) showGroups(st *session.State, p *session.Picture) error {
	known, err := st.GroupsOf(p)
	if err != nil {
		return err
	}
	if c.Arg(0) != "" {
		return c.showMembers(p, known)
	}
	c.out.note("from %s, tables of %s", known.Origin, st.Title(p))
	var rows []groupRow
	for i := range known.List {
		g := &known.List[i]
		r := groupRow{leads: leads{toCommand("show groups %s", mlidText(g.MLID))}, MLID: mlidText(g.MLID), SL: g.SL, Members: len(g.Members), Switches: switchesOf(p, g.MLID), Gbps: sa.Rate(g.Rate).Gbps()}
		if r.MGID, r.MTU, _ = session.GroupWords(g); r.MGID != "" {
			r.PKey = fmt.Sprintf("0x%04x", g.PKey)
		}
		for _, m := range g.Members {
			if p.Fabric.PortByGUID(m.GUID) == fabric.None {
				r.Gone++
			}
		}
		rows = append(rows, r)
	}
	return c.list([]string{"MLID", "MGID", "P_KEY", "SL", "MTU", "RATE", "MEMBERS", "SWITCHES"}, eachRow(rows))
}

func switchesOf(p *session.Picture, mlid uint16) int {
	if p.Tables == nil || p.Tables.MFT == nil {
		return -1
	}
	n := 0
	for s := range p.Fabric.Switches {
		if p.Tables.MFT.Any(fabric.SwitchIndex(s), mlid) {
			n++
		}
	}
	return n
}

type memberRow struct {
	leads
	MLID   string `json:"mlid"`
	MGID   string `json:"mgid,omitempty"`
	GUID   string `json:"guid"`
	Name   string `json:"name,omitempty"`
	Join   string `json:"join"`
	Proxy  bool   `json:"proxy,omitempty"`
	Switch string `json:"switch,omitempty"`
}

func (r memberRow) Cells() []any {
	name := cmp.Or(r.Name, "(not in the subnet)")
	return []any{r.GUID, r.Join, orDash(r.Switch), name}
}

func (c *call) showMembers(p *session.Picture, known *session.Groups) error {
	mlid, err := parseMLID(c.Arg(0))
	if err != nil {
		return err
	}
	f := p.Fabric
	var rows []memberRow
	any := false
	for i := range known.List {
		g := &known.List[i]
		if g.MLID != mlid {
			continue
		}
		any = true
		r := memberRow{MLID: mlidText(mlid)}
		r.MGID, _, _ = session.GroupWords(g)
		c.out.note("%s %s from %s", r.MLID, r.MGID, known.Origin)
		for _, m := range g.Members {
			r.GUID, r.Join, r.Proxy, r.Name, r.Switch = guidText(m.GUID), m.Join.String(), m.Proxy, "", ""
			r.to = toPort(f, f.PortByGUID(m.GUID))
			if e := f.PortByGUID(m.GUID); e != fabric.None {
				r.Name = f.PortName(e)
				if sw, port := f.AttachedSwitch(e); sw != fabric.None {
					r.Switch = f.PortName(f.Port(f.Switches[sw], port))
				}
			}
			rows = append(rows, r)
		}
	}
	if !any {
		return fmt.Errorf("no group has the multicast LID %s", mlidText(mlid))
	}
	return c.list([]string{"PORT GUID", "JOIN", "SWITCH", "NAME"}, eachRow(rows))
}
