// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func showCommands() []Spec {
	of := []lang.Option{ofOption()}
	return []Spec{{Name: "show", Summary: "list what is in the subnet", Options: of, Subcommands: []Spec{
		{Name: "structure", Summary: "what kind of network it is: tiers, pods, planes, rails, directors, what nodes are for, and what is odd", Run: onPicture((*call).showStructure)},
		{Name: "sms", Summary: "the subnet managers that were seen", Run: (*call).showSMs},
		{Name: "counters", Summary: "the error counters of all ports that have any, or all counters of a node's; what grew since the last time", Run: (*call).showCounters,
			Args:    []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace, Optional: true}},
			Options: []lang.Option{{Name: "all", Kind: lang.KindFlag, Summary: "all ports and counters"}}},
		{Name: "sl2vl", Summary: "the virtual lanes of a node's service levels", Run: onTables((*call).showSL2VL), Args: []lang.Arg{{Name: "NODE", Kind: lang.KindNode}}},
		{Name: "sl", Summary: "the service levels of paths", Run: onTables((*call).showSL), Args: []lang.Arg{{Name: "SRC", Kind: lang.KindPlace},
			{Name: "DST|all", Kind: lang.KindPlace, Words: []string{allWord}, Optional: true}}, Options: askedOptions()},
		{Name: "torus", Summary: "the switches at their coordinates, datelines and lost links, after torus-2QoS; a path or a tree", Run: onTables((*call).showTorus),
			Options: torusOptions()},
		{Name: "failures", Summary: "what has failed, was repaired, added and moved on paper, with the numbers that undo takes", Run: runWhatIf},
		{Name: "pictures", Summary: "live, base, what-if and staged side by side", Run: (*call).showPictures},
		{Name: "groups", Summary: "the multicast groups, or the members of one", Run: onPicture((*call).showGroups),
			Args: []lang.Arg{{Name: "MLID", Kind: lang.KindText, Optional: true}}},
		{Name: "unanswered", Aliases: []string{"holes"}, Summary: "what did not answer the last sweep", Run: (*call).showUnanswered},
		{Name: "events", Summary: "what sweeps found to be new, with the time", Run: showEvents},
	}}}
}

func guidText(g uint64) string { return fmt.Sprintf("0x%016x", g) }

func lidText(lid uint16) string { return prose.When(lid == 0, "-", fmt.Sprint(lid)) }

func orDash(s string) string { return cmp.Or(s, "-") }

type smRow struct {
	leads
	GUID     string `json:"guid"`
	Port     string `json:"port"`
	Priority uint8  `json:"priority"`
	State    string `json:"state"`
	Vendor   string `json:"vendor"` // of the node
	InSwitch bool   `json:"in_switch"`
	// Proof is of the one in charge.
	Proof *session.Proof `json:"as_subnet_manager,omitempty"`
	of    session.SM
}

func (r smRow) Cells() []any { return []any{smText(r.of)} }

var smDetails = []string{"PORT", "GUID", "PRIORITY", "STATE", "VENDOR", "IN A SWITCH"}

// Detail is the row in cells.
func (r smRow) Detail() []any {
	return []any{r.Port, r.GUID, r.Priority, r.State, r.Vendor, prose.When(r.InSwitch, "yes", "no")}
}

func (c *call) showSMs() error {
	st := c.session.State()
	proof := proofOf(&st)
	var rows []smRow
	for _, sm := range st.SMs {
		r := smRow{leads: leads{toPort(st.Live.Fabric, st.Live.Fabric.PortByGUID(sm.GUID))}, GUID: guidText(sm.GUID), Port: sm.Port, Priority: sm.Priority, State: sm.State,
			Vendor: fmt.Sprintf("0x%06x", sm.VendorID), InSwitch: sm.InSwitch, of: sm}
		if master, ok := st.Master(); ok && master == sm {
			r.Proof = proof
		}
		rows = append(rows, r)
	}
	if err := c.out.Answer(&List{Rows: eachRow(rows), Details: smDetails, Empty: "no subnet manager was seen"}); err != nil || proof == nil {
		return err
	}
	if proof.Manager != session.ManagerUntold {
		c.out.note("the subnet manager in charge is of the kind %s, as was said", proof.Manager)
	}
	c.out.note("%s", proof)
	return nil
}

func (c *call) showUnanswered() error {
	st := c.session.State()
	a := unanswered{Unanswered: st.Unanswered}
	for _, u := range st.UnansweredAt() {
		r := unansweredRow{leads: leads{Lead{GUID: u.GUID, Port: uint8(max(u.Port, 0))}}, node: u.Node, port: "-", what: u.Attr.String(), open: u.Count, why: u.String()}
		if u.Port >= 0 {
			r.port = strconv.Itoa(u.Port)
		}
		a.rows = append(a.rows, r)
	}
	return c.out.Answer(a)
}

type unanswered struct {
	Unanswered []string `json:"unanswered"`
	rows       []unansweredRow
}

// unansweredRow is what one node or port owes.
type unansweredRow struct {
	leads
	node, port, what string
	open             int
	why              string
}

// Tables has what each node or port owes.
func (a unanswered) Tables() []Table {
	return []Table{tableOf("unanswered", []string{"NODE", "PORT", "WHAT", "OPEN", "WHY"}, a.rows, func(r unansweredRow) plainRow {
		return plainRow{r.leads, []any{r.node, r.port, r.what, r.open, r.why}}
	})}
}

func (a unanswered) Text(w io.Writer) {
	if len(a.Unanswered) == 0 {
		_, _ = fmt.Fprintln(w, "everything answered the last sweep")
	}
	for _, u := range a.Unanswered {
		_, _ = fmt.Fprintln(w, u)
	}
}
