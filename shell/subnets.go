// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/metrics"
)

// Subnets holds the open subnets of a console. Each subnet has its own session. Commands that name no subnet run on the
// chosen subnet, which is subnet 0 at the beginning.
type Subnets struct {
	all     []*Subnet
	chosen  atomic.Int32
	metrics metrics.Servers
}

// Subnet is one of several open subnets.
type Subnet struct {
	*Shell
	name string

	mu      sync.Mutex
	trouble error         // why it could not be read, nil if it was read
	reading chan struct{} // closed after the first sweep, nil if [Subnet.Read] was not called
}

// NewSubnets returns subnets with the given names and sessions, and a shell for each.
func NewSubnets(names []string, sessions []*session.Session) *Subnets {
	s := &Subnets{}
	for i, name := range names {
		n := &Subnet{Shell: New(sessions[i]), name: name}
		n.among = s
		s.all = append(s.all, n)
	}
	return s
}

// All returns the subnets in their order.
func (s *Subnets) All() []*Subnet { return s.all }

// Chosen returns the index of the chosen subnet.
func (s *Subnets) Chosen() int { return int(s.chosen.Load()) }

// Choose sets the chosen subnet.
func (s *Subnets) Choose(at int) { s.chosen.Store(int32(at)) }

func (s *Subnets) names() (names []string) {
	if s == nil {
		return nil
	}
	return prose.Words(s.all, func(n *Subnet) string { return n.name })
}

// Find returns the index of a subnet.
func (s *Subnets) Find(name string) (int, error) {
	names := s.names()
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	if len(names) == 0 {
		return -1, errors.New("only one subnet is open, and it has no name")
	}
	return -1, fmt.Errorf("unknown subnet %q, expected one of %s", name, prose.List(names, len(names)))
}

// Name returns the name of the subnet if several subnets are open, otherwise "".
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

// Name returns the name of the subnet.
func (n *Subnet) Name() string { return n.name }

// Read calls the function start in the background to read the subnet for the first time. Commands on the subnet wait
// until the function start has returned.
func (n *Subnet) Read(start func() error) {
	n.reading = make(chan struct{})
	go func() {
		defer close(n.reading)
		n.Troubled(start())
	}()
}

// Wait waits for the first sweep of the subnet.
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

var errReading = errors.New("the first sweep is not finished")

// Troubled stores the reason why the subnet could not be read.
func (n *Subnet) Troubled(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.trouble = err
}

// Trouble returns the reason why the subnet could not be read, or nil if it was read.
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

// current returns the chosen subnet.
func (s *Subnets) current() *Subnet { return s.all[s.Chosen()] }

// Run is like [Shell.Run] on the chosen subnet.
func (s *Subnets) Run(ctx context.Context, name, text string, out *Output) error {
	stmts, err := lang.Parse(name, text)
	if err != nil {
		return err
	}
	return s.Execute(ctx, name, stmts, out)
}

// Execute is like [Shell.Execute] on the chosen subnet, or on the subnet that "on SUBNET" names. If several subnets are
// open, commands that write to switches require "on SUBNET".
func (s *Subnets) Execute(ctx context.Context, name string, stmts []lang.Statement, out *Output) error {
	if err := s.current().mustName(stmts); err != nil {
		return err
	}
	return s.current().execute(ctx, name, stmts, out, func(p step) performer {
		if n := s.current(); len(s.all) > 1 && p.on == "" && !isGlobal(p.Command) {
			return n
		}
		return s.current().Shell
	})
}

// mustName returns an error if several subnets are open and a statement writes to switches without naming a subnet.
func (sh *Shell) mustName(stmts []lang.Statement) error {
	name := sh.Name()
	if name == "" {
		return nil
	}
	for _, stmt := range stmts {
		if p, err := sh.bind(stmt); err == nil && p.on == "" && writes(p.Command) {
			return p.Misused("%d subnets are open; hint: choose a subnet, as in '%s %s %s'", len(sh.among.all),
				onCommand,
				lang.Quote(name), p.Text)
		}
	}
	return nil
}

// Complete is like [Shell.Complete] for the chosen subnet.
func (s *Subnets) Complete(line string, cursor int) (start int, candidates []lang.Candidate) {
	return s.current().Complete(line, cursor)
}

// Prompt is like [Shell.Prompt] for the chosen subnet.
func (s *Subnets) Prompt() string { return s.current().Prompt() }

// writes reports whether a command writes to switches or enables writing. If several subnets are open, such a command
// must name its subnet.
func writes(command string) bool {
	word, _, _ := strings.Cut(command, " ")
	return word == "commit" || word == "rollback" || word == "write"
}

// isGlobal reports whether a command acts on the console instead of on a subnet.
func isGlobal(command string) bool {
	word, _, _ := strings.Cut(command, " ")
	return word == "source" || word == "sources" || word == "exit" || word == "quit" || word == "help"
}

// CarrySets copies the sets of hosts of one subnet to another subnet. Hosts are matched by name. A set is not copied if
// the other subnet already has a set of this name. It returns how many hosts of copied sets the other subnet lacks.
func (s *Subnets) CarrySets(from, to int) (lacking int) {
	was, now := s.all[from].session.State(), s.all[to].session.State()
	ends := map[string][]uint64{}
	f := now.Live.Fabric
	for _, e := range f.EndPorts {
		if n := &f.Nodes[f.Ports[e].Node]; !n.IsSwitch() {
			ends[places.HostName(n)] = append(ends[places.HostName(n)], f.Ports[e].GUID)
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
			name := places.HostName(&was.Live.Fabric.Nodes[was.Live.Fabric.Ports[e].Node])
			if !seen[name] {
				carried.Ports = append(carried.Ports, ends[name]...)
				lacking += prose.When(len(ends[name]) == 0, 1, 0)
			}
			seen[name] = true
		}
		feature.NameHosts(s.all[to].session, carried)
	}
	return lacking
}
