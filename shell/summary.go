// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
)

type summary struct {
	Source    string   `json:"source"`
	Simulated bool     `json:"simulated"`
	Switches  int      `json:"switches"`
	CAs       int      `json:"cas"`
	Routers   int      `json:"routers,omitempty"`
	Links     int      `json:"links"`
	Outside   int      `json:"outside,omitempty"`
	MaxLID    uint16   `json:"max_lid"`
	SM        string   `json:"sm_port"`
	Routed    bool     `json:"routed"`
	Pictures  []string `json:"pictures"`
	Engine    string   `json:"engine"`
	Write     bool     `json:"write"`
	SMs       []string `json:"sms,omitempty"`
	// Interrupted is the commit that did not come to its end.
	Interrupted string   `json:"interrupted,omitempty"`
	Lost        string   `json:"lost,omitempty"`
	Unanswered  []string `json:"unanswered,omitempty"`
	unreadAnswer
	warnings
}

func summarize(st *session.State) *summary {
	f := st.Live.Fabric
	sum := &summary{
		Source: st.Source.String(), Simulated: st.Source.Kind == session.SourceSim,
		Links: len(f.Links()), MaxLID: f.MaxLID, Engine: st.Settings.String(), Write: st.WriteOn,
		Routed: st.Live.Tables != nil && f.MaxLID > 0, Interrupted: st.Interrupted, Lost: st.Lost, Unanswered: st.Unanswered, unreadAnswer: unreadOf(&st.Unread), warnings: warnings{st.Warnings},
	}
	if f.SMPort != fabric.None {
		sum.SM = f.PortName(f.SMPort)
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch {
		case !n.InSubnet:
			sum.Outside++
		case n.IsSwitch():
			sum.Switches++
		case n.Type == mad.NodeRouter:
			sum.Routers++
		default:
			sum.CAs++
		}
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
	routers := ""
	if s.Routers > 0 {
		routers = ", " + count(s.Routers, "router")
	}
	p("  %s, %s%s, %s; highest LID %d", count(s.Switches, "switch"), count(s.CAs, "channel adapter"), routers, count(s.Links, "link"), s.MaxLID)
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

func writeWord(on bool) string {
	if on {
		return "writing is on"
	}
	return "read-only"
}
