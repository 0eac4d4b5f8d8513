// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/metrics"
)

// Subnets are the subnets that a console has open, each with a session of its own: its pictures, history, lock and
// capture are no other's. They run what is said to the one that is chosen, the first at the beginning.
type Subnets struct {
	all     []*Subnet
	chosen  atomic.Int32
	metrics metrics.Servers
}

// Subnet is one of them.
type Subnet struct {
	*Shell
	name string

	mu      sync.Mutex
	trouble error         // why nothing was read of it, nil where something was
	reading chan struct{} // closed when it was read for the first time, nil where nobody waits for that
}

// NewSubnets makes shells over the sessions of sources.
func NewSubnets(names []string, sessions []*session.Session) *Subnets {
	s := &Subnets{}
	for i, name := range names {
		n := &Subnet{Shell: New(sessions[i]), name: name}
		n.among = s
		s.all = append(s.all, n)
	}
	return s
}

// All are the subnets, in the order in which they were named.
func (s *Subnets) All() []*Subnet { return s.all }

// Chosen is the index of the one that commands act on which name none.
func (s *Subnets) Chosen() int { return int(s.chosen.Load()) }

// Choose has commands act on another one.
func (s *Subnets) Choose(at int) { s.chosen.Store(int32(at)) }

func (s *Subnets) names() (names []string) {
	if s == nil {
		return nil
	}
	return prose.Words(s.all, func(n *Subnet) string { return n.name })
}

// Find is the index of the subnet of a name.
func (s *Subnets) Find(name string) (int, error) {
	names := s.names()
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	if len(names) == 0 {
		return -1, errors.New("there is but one subnet, without a name")
	}
	return -1, fmt.Errorf("no subnet is called %q, expected one of %s", name, prose.List(names, len(names)))
}

// Name is the name of the subnet where there are several, else "".
func (sh *Shell) Name() string {
	if sh.among == nil || len(sh.among.all) < 2 {
		return ""
	}
	for _, n := range sh.among.all {
		if n.Shell == sh {
			return n.name
		}
	}
	return ""
}

// Name is the name of the subnet.
func (n *Subnet) Name() string { return n.name }

// Read reads a subnet for the first time, beside the caller. Commands on it wait for that; those on others do not.
func (n *Subnet) Read(start func() error) {
	n.reading = make(chan struct{})
	go func() {
		defer close(n.reading)
		n.Troubled(start())
	}()
}

// Wait waits until the subnet was read for the first time.
func (n *Subnet) Wait(ctx context.Context) error {
	if n.reading == nil {
		return nil
	}
	select {
	case <-n.reading:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errReading = errors.New("is being read")

// Troubled takes note why the subnet could not be read.
func (n *Subnet) Troubled(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.trouble = err
}

// Trouble is why nothing is known of the subnet, nil where something is.
func (n *Subnet) Trouble() error {
	st := n.session.State()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(st.Live.Fabric.Nodes) > 0 {
		n.trouble = nil
	}
	if n.reading != nil && n.trouble == nil && len(st.Live.Fabric.Nodes) == 0 {
		select {
		case <-n.reading:
		default:
			return errReading
		}
	}
	return n.trouble
}

// current is the subnet that was chosen.
func (s *Subnets) current() *Subnet { return s.all[s.Chosen()] }

// Run is [Shell.Run] on the subnet that is chosen.
func (s *Subnets) Run(ctx context.Context, name, text string, out *Output) error {
	stmts, err := lang.Parse(name, text)
	if err != nil {
		return err
	}
	return s.Execute(ctx, name, stmts, out)
}

// Execute is [Shell.Execute] on the subnet that is chosen, or that a statement names. Where there are several, what
// writes to switches must name one.
func (s *Subnets) Execute(ctx context.Context, name string, stmts []lang.Statement, out *Output) error {
	if err := s.current().mustName(stmts); err != nil {
		return err
	}
	return s.current().execute(ctx, name, stmts, out, func(p step) performer {
		if n := s.current(); len(s.all) > 1 && p.who == "" && !ofNone(p.Command) {
			return n
		}
		return s.current().Shell
	})
}

// mustName fails where there are several subnets and a statement that writes names none.
func (sh *Shell) mustName(stmts []lang.Statement) error {
	name := sh.Name()
	if name == "" {
		return nil
	}
	for _, stmt := range stmts {
		if p, err := sh.bind(stmt); err == nil && p.who == "" && writes(p.Command) {
			return p.Misused("there are %d subnets, name the one that is meant: %s %s %s", len(sh.among.all), onCommand,
				lang.Quote(name), p.Text)
		}
	}
	return nil
}

// Complete is [Shell.Complete] for the subnet that is chosen.
func (s *Subnets) Complete(line string, cursor int) (start int, candidates []lang.Candidate) {
	return s.current().Complete(line, cursor)
}

// Prompt is [Shell.Prompt] of the subnet that is chosen.
func (s *Subnets) Prompt() string { return s.current().Prompt() }

// writes reports whether a command writes to switches, or leads there: such a one names its subnet.
func writes(command string) bool {
	word, _, _ := strings.Cut(command, " ")
	return word == "commit" || word == "rollback" || word == "write"
}

// ofNone reports whether a command is about the console, not about one subnet.
func ofNone(command string) bool {
	word, _, _ := strings.Cut(command, " ")
	return word == "source" || word == "sources" || word == "exit" || word == "quit" || word == "help"
}

// CarrySets gives a subnet the sets of hosts of another one that it has not, by the names of the hosts.
func (s *Subnets) CarrySets(from, to int) {
	was, now := s.all[from].session.State(), s.all[to].session.State()
	ends := map[string][]uint64{}
	f := now.Live.Fabric
	for _, e := range f.EndPorts {
		if n := &f.Nodes[f.Ports[e].Node]; !n.IsSwitch() {
			ends[feature.HostName(n)] = append(ends[feature.HostName(n)], f.Ports[e].GUID)
		}
	}
	for _, set := range was.Sets {
		if now.Sets.Named(set.Name) != nil {
			continue
		}
		carried := session.HostSet{Name: set.Name}
		there, _, _ := set.In(was.Live.Fabric)
		seen := map[string]bool{}
		for _, e := range there {
			name := feature.HostName(&was.Live.Fabric.Nodes[was.Live.Fabric.Ports[e].Node])
			if !seen[name] {
				carried.Ports = append(carried.Ports, ends[name]...)
			}
			seen[name] = true
		}
		feature.NameHosts(s.all[to].session, carried)
	}
}
