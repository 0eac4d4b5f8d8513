// SPDX-License-Identifier: Apache-2.0

package sessiontest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/internal/base/audit"
	"example.org/ibconsole/internal/test/simtest"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/source"
)

// Subnet is a simulated subnet to which any number of consoles can connect.
type Subnet struct {
	T      *testing.T
	Sim    *sim.Sim
	Fabric *fabric.Fabric // of Sim, complete
	Port   fabric.PortIndex
	Other  *ibsimtest.Sim // an ibsim in the place of Sim, nil for none

	Dir    string             // the folder of the history
	Record bool               // consoles record their sweeps in the history
	Client *mad.ClientOptions // nil for the options of simulated subnets
	Log    func(*audit.Record) error
	Wrap   func(mad.Transport) mad.Transport // wraps the transport of the next console, nil for none
	Leave  func()                            // closes the console that was opened last
}

// NewSubnet returns a simulated subnet that is routed by the default engine.
func NewSubnet(t *testing.T, spec string) *Subnet {
	t.Helper()
	f := gentest.WithLIDs(t, spec)
	return &Subnet{
		T: t, Sim: sim.New(f, sim.Options{Tables: simtest.Routed(t, f), Active: true}), Fabric: f,
		Port: f.EndPortOf(f.SMPort), Dir: t.TempDir(),
	}
}

// NewBareSubnet returns a simulated subnet without LIDs and tables.
func NewBareSubnet(t *testing.T, spec string) *Subnet {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return &Subnet{T: t, Sim: sim.New(f, sim.Options{}), Fabric: f, Port: f.EndPortOf(f.SMPort), Dir: t.TempDir()}
}

// Open opens a port of the subnet.
func (n *Subnet) Open() (mad.Transport, error) {
	if n.Other == nil {
		return n.Sim.Open(n.Port)
	}
	return ibsim.Dial(n.T.Context(), ibsim.Options{Name: n.Other.Name})
}

// Console opens a session in the same way as a new process would. Its source counts as live, and it looks for earlier
// commits.
func (n *Subnet) Console() *session.Session {
	n.T.Helper()
	client := *cmp.Or(n.Client, new(mad.Fast()))
	s, err := session.Open(n.T.Context(), source.Source{Kind: source.Ibsim}, session.Options{
		StateDir: n.Dir, Client: client, Keys: source.Keys{M: client.MKey}, Later: true, Record: n.Record, Log: n.Log,
		Dial: func(context.Context) (mad.Transport, error) {
			conn, err := n.Open()
			if n.Wrap != nil && err == nil {
				conn = n.Wrap(conn)
			}
			return conn, err
		}})
	if err != nil {
		n.T.Fatal(err)
	}
	n.Leave = sync.OnceFunc(func() { _ = s.Close() })
	n.T.Cleanup(n.Leave)
	if err := s.Start(n.T.Context()); err != nil {
		n.T.Fatal(err)
	}
	if err := s.SetWrite(true); err != nil {
		n.T.Fatal(err)
	}
	return s
}

// Sweep reads the subnet.
func (n *Subnet) Sweep(s *session.Session) {
	n.T.Helper()
	if _, err := s.Sweep(n.T.Context()); err != nil {
		n.T.Fatal(err)
	}
}

// Read reads the subnet with SL2VL tables and multicast tables.
func (n *Subnet) Read(s *session.Session) *session.Picture {
	n.T.Helper()
	if _, err := s.SweepFor(n.T.Context(), session.Reads{SL2VL: true, MFT: true}); err != nil {
		n.T.Fatal(err)
	}
	return s.State().Live
}

// Route computes and stages the tables of an engine with options "NAME=VALUE".
func (n *Subnet) Route(s *session.Session, words ...string) {
	n.T.Helper()
	var chain []string
	var given []settings.Setting
	for _, word := range words {
		if name, value, is := strings.Cut(word, "="); is {
			given = append(given, settings.Setting{Name: name, Value: value})
		} else {
			chain = append(chain, word)
		}
	}
	set, err := settings.Parse(context.Background(), chain, given)
	if err == nil {
		s.SetSettings(set)
		_, err = s.Route(n.T.Context(), compute.KeepNo)
	}
	if err != nil {
		n.T.Fatal(err)
	}
}

// Stage stages tables of the live fabric.
func (n *Subnet) Stage(s *session.Session, t *fabric.Tables) {
	n.T.Helper()
	op, err := s.Begin(n.T.Context(), "stage")
	if err != nil {
		n.T.Fatal(err)
	}
	defer op.End()
	op.Stage(&session.Picture{Kind: session.Staged, Fabric: t.Fabric, Tables: t})
}

// Engines are engines with options. Each of them computes different tables.
var Engines = [][]string{{"minhop", "port_shifting=TRUE"}, {"minhop", "scatter_ports=1"}, {"minhop", "scatter_ports=2"},
	{"minhop", "scatter_ports=3"}}

// A call of apart runs the function do with the settings of a console that has no history and that waits longer for
// responses, because the test machine may be busy.
func (n *Subnet) apart(do func()) {
	n.T.Helper()
	was := *n
	slow := mad.Fast()
	slow.Timeout = time.Minute
	n.Client, n.Dir, n.Wrap = &slow, "", nil
	defer func() { *n = was }()
	do()
}

// LFT returns the forwarding tables that the switches hold. It reads them with a session that has no history.
func (n *Subnet) LFT() (t *fabric.Tables) {
	n.T.Helper()
	n.apart(func() {
		t = n.Console().State().Live.Tables
		n.Leave()
	})
	return t
}

// Held returns a text with everything on the switches that a commit may write. It reads them with a session that has no
// history.
func (n *Subnet) Held() string {
	n.T.Helper()
	var p *session.Picture
	n.apart(func() {
		p = n.Read(n.Console())
		n.Leave()
	})
	var b strings.Builder
	f, tb := p.Fabric, p.Tables
	for i := range f.Nodes {
		node := &f.Nodes[i]
		fmt.Fprintf(&b, "0x%x\n", node.GUID)
		for num := range int(node.NumPorts) + 1 {
			port := &f.Ports[node.FirstPort+fabric.PortIndex(num)]
			fmt.Fprintln(&b, num, port.LID, port.SMLID, port.LMC, port.State)
		}
		if node.Switch == fabric.None {
			continue
		}
		fmt.Fprintln(&b, tb.Top[node.Switch])
		for lid := range tb.Top[node.Switch] + 1 {
			b.WriteByte(tb.Port(node.Switch, lid))
		}
		for in := range node.NumPorts + 1 {
			for out := uint8(1); out <= node.NumPorts; out++ {
				fmt.Fprint(&b, tb.SL2VL.VLs(fabric.NodeIndex(i), in, out))
			}
		}
		for lid := uint16(fabric.FirstMLID); lid < fabric.FirstMLID+64; lid++ {
			for p := range node.NumPorts + 1 {
				fmt.Fprint(&b, lid <= tb.MFT.Top && tb.MFT.Has(node.Switch, lid, p))
			}
		}
	}
	return b.String()
}
