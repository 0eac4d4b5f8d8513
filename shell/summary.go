// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
)

type summary struct {
	Source      string `json:"source"`
	Of          string `json:"of"`
	Simulated   bool   `json:"simulated"`
	Switches    int    `json:"switches"`
	CAs         int    `json:"cas"`
	Routers     int    `json:"routers,omitempty"`
	Aggregation int    `json:"aggregation_nodes,omitempty"` // among the cas
	Links       int    `json:"links"`
	Outside     int    `json:"outside,omitempty"`
	// Unreachable counts what failures have separated from the subnet, nil for nothing.
	Unreachable *fabric.Amounts `json:"unreachable,omitempty"`
	MaxLID      uint16          `json:"max_lid"`
	SM          string          `json:"sm_port"`
	Routed      bool            `json:"routed"`
	Pictures    []string        `json:"pictures"`
	Engine      string          `json:"engine"`
	Write       bool            `json:"write"`
	SMs         []string        `json:"sms,omitempty"`
	Interrupted string          `json:"interrupted,omitempty"` // the commit that did not come to its end
	Lost        string          `json:"lost,omitempty"`
	Unanswered  []string        `json:"unanswered,omitempty"`
	unreadAnswer
	warnings

	named bool // the state is named in the text
}

// summarize counts what is in a state, and says what there is in the session.
func summarize(st *session.State, p *session.Picture) *summary {
	f := p.Fabric
	inv := f.Inventory()
	sum := &summary{
		Of: st.Title(p), Source: st.Source.String(), Simulated: st.Source.Kind == session.SourceSim, Outside: inv.Outside,
		Switches: inv.InSubnet.Switches, CAs: inv.InSubnet.CAs, Routers: inv.InSubnet.Routers, Aggregation: inv.InSubnet.Aggregation,
		Links: inv.InSubnet.Links, MaxLID: f.MaxLID, Engine: st.Settings.String(), Write: st.WriteOn,
		Routed: p.Tables != nil && f.MaxLID > 0, Interrupted: st.Interrupted, Lost: st.Lost, Unanswered: st.Unanswered, unreadAnswer: unreadOf(&st.Unread), warnings: warnings{st.Warnings},
	}
	if inv.Unreachable.Nodes > 0 {
		sum.Unreachable = &inv.Unreachable
	}
	if f.SMPort != fabric.None {
		sum.SM = f.PortName(f.SMPort)
	}
	for _, sm := range st.SMs {
		sum.SMs = append(sum.SMs, smText(sm))
	}
	for _, k := range session.Kinds[:] {
		if p, err := st.Of(k); err == nil && (k != session.Base || st.Base != nil) {
			sum.Pictures = append(sum.Pictures, st.Title(p))
		}
	}
	return sum
}

func smText(sm session.SM) string {
	return fmt.Sprintf("0x%016x %s priority %d on %s", sm.GUID, sm.State, sm.Priority, sm.Port)
}

func (s *summary) Text(w io.Writer) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	if s.Simulated {
		p("SIMULATED subnet %s: no InfiniBand hardware is read or written", s.Source)
	} else {
		p("subnet %s", s.Source)
	}
	if s.Interrupted != "" {
		p("  INTERRUPTED: %s", s.Interrupted)
	}
	if s.named {
		p("  of %s", s.Of)
	}
	routers := prose.When(s.Routers > 0, ", "+count(s.Routers, "router"), "")
	aggregation := prose.When(s.Aggregation > 0, fmt.Sprintf(", %d of them %s", s.Aggregation, prose.When(s.Aggregation == 1, "an aggregation node", "aggregation nodes")), "")
	p("  %s, %s%s%s, %s; highest LID %d", count(s.Switches, "switch"), count(s.CAs, "channel adapter"), aggregation, routers, count(s.Links, "link"), s.MaxLID)
	if u := s.Unreachable; u != nil {
		p("  unreachable: %s, %s%s, %s", count(u.Switches, "switch"), count(u.CAs, "channel adapter"),
			prose.When(u.Routers > 0, ", "+count(u.Routers, "router"), ""), count(u.Links, "link"))
	}
	if s.Outside > 0 {
		p("  left out: %s attached to no link of the subnet", count(s.Outside, "node"))
	}
	if s.Lost != "" {
		p("  OLD: the connection is lost: %s (sweep opens it again)", fabric.Escape(s.Lost))
	}
	p("  seen from %s", s.SM)
	if !s.Routed {
		p("  no forwarding tables")
	}
	for _, sm := range s.SMs {
		p("  subnet manager %s", sm)
	}
	p("  pictures: %s; engine %s; %s", strings.Join(s.Pictures, ", "), s.Engine, writeWord(s.Write))
	s.unreadAnswer.text(w)
	list(w, "unanswered", s.Unanswered)
	list(w, "warning", s.Warnings)
}

func writeWord(on bool) string { return prose.When(on, "writing is on", "read-only") }
