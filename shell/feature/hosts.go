// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/slurm"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/joblinks"
	"example.org/ibconsole/shell/session/jobs"
)

// ReadHosts reads a file of end ports. The file has words for [places.Resolve], quoted as in the command language. #
// starts a comment. Errors contain the file and the line.
func ReadHosts(ctx context.Context, f *fabric.Fabric, name string) ([]fabric.PortIndex, error) {
	in, err := files.Open(ctx, name, files.List)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var hosts []fabric.PortIndex
	first := map[fabric.PortIndex]int{}
	finder := places.NewFinder(f)
	name = fabric.Escape(name)
	err = lang.Lines(in, name, func(stmts []lang.Statement) error {
		for _, s := range stmts {
			for _, word := range s.Words {
				p, err := finder.Resolve(word)
				if err != nil {
					return fmt.Errorf("%s:%d: %w", name, s.Line, err)
				}
				end := f.EndPortOf(p.Port)
				if line, twice := first[end]; twice {
					return fmt.Errorf("%s:%d: %s is already listed in line %d", name, s.Line, f.PortName(end), line)
				}
				first[end] = s.Line
				hosts = append(hosts, end)
			}
		}
		return nil
	})
	if err == nil && len(hosts) < 2 {
		err = fmt.Errorf("%s: %s, expected at least 2", name, prose.Count(len(hosts), "host"))
	}
	return hosts, err
}

// ReadHostSets reads a file of sets of hosts. Each line has a name and host lists of Slurm, as arguments of the command
// hosts. # starts a comment. Errors contain the file and the line.
func ReadHostSets(ctx context.Context, name string) ([]records.HostSet, error) {
	in, err := files.Open(ctx, name, files.List)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var all []records.HostSet
	name = fabric.Escape(name)
	err = lang.Lines(in, name, func(stmts []lang.Statement) error {
		for _, s := range stmts {
			refuse := func(format string, args ...any) error {
				return fmt.Errorf("%s:%d: %w", name, s.Line, fmt.Errorf(format, args...))
			}
			x := records.HostSet{Name: s.Words[0], Hosts: strings.Join(s.Words[1:], ",")}
			switch _, err := slurm.Expand(x.Hosts); {
			case !HostSetName.MatchString(x.Name):
				return refuse("invalid name %q, %s", x.Name, HostSetNames)
			case x.Hosts == "":
				return refuse("%s has no hosts, expected NAME HOSTS", x.Name)
			case err != nil:
				return refuse("%w", err)
			case slices.ContainsFunc(all, func(h records.HostSet) bool { return h.Name == x.Name }):
				return refuse("%s is defined twice", x.Name)
			}
			all = append(all, x)
		}
		return nil
	})
	return all, err
}

// HostSetName matches the name of a set of hosts.
var HostSetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// HostSetNames describes the names of sets of hosts.
const HostSetNames = "expected at most 40 letters, digits, dots, dashes and underscores"

// SetPrefix begins the name of a set of hosts where a host or a host list could be meant as well.
const SetPrefix = "@"

// JobSet returns the name of the set of the hosts of a job.
func JobSet(id string) string { return "job-" + strings.ReplaceAll(id, "+", ".") }

// setsFor is the time before now for which recorded sets of hosts are known by their names.
const setsFor = 30 * 24 * time.Hour

// HostSet returns the set of hosts with a name: that of the command hosts, otherwise the last one that was recorded in
// a period. Without a period it is one of the last 30 days.
func (c *Call) HostSet(name string, since, until time.Time) (*joblinks.Run, error) {
	if since.IsZero() {
		since = time.Now().Add(-setsFor)
	}
	if until.IsZero() {
		until = time.Now()
	}
	set, names, err := joblinks.Named(c.Ctx, c.Session, name, since, until)
	if err == nil && set == nil {
		err = noSet(names, name)
	}
	return set, err
}

// Hosts returns the hosts that an option names in a period: @SET, a host list of Slurm, or SET if no host has this
// name.
func (c *Call) Hosts(word string, since, until time.Time) (*joblinks.Run, error) {
	if name, isSet := strings.CutPrefix(word, SetPrefix); isSet {
		return c.HostSet(name, since, until)
	}
	list := &joblinks.Run{Job: jobs.Job{ID: word, Hosts: word, From: since, Until: until}}
	st := c.Session.State()
	ends, _, err := list.Ends(st.Live.Fabric, &places.HostFinder{Fabric: st.Live.Fabric})
	if err != nil || len(ends) > 0 || !HostSetName.MatchString(word) {
		return list, err
	}
	if set, _, err := joblinks.Named(c.Ctx, c.Session, word, since, until); err != nil || set != nil {
		return set, err
	}
	return list, nil
}

// Members are the hosts of a set in a fabric: their end ports, and the number of hosts that the fabric does not have.
type Members struct {
	Reachable, Unreachable []fabric.PortIndex
	Missing                int
}

// Ends returns all end ports, the unreachable ones last.
func (m *Members) Ends() []fabric.PortIndex { return slices.Concat(m.Reachable, m.Unreachable) }

// Warnings returns a warning if the fabric does not have all hosts of the set with this name.
func (m *Members) Warnings(name string) []string { return NotInSubnet(SetPrefix+name, m.Missing) }

// NotInSubnet returns a warning if a number of hosts that a word of a command names are not in the subnet.
func NotInSubnet(word string, missing int) []string {
	if missing == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s of %s not in the subnet", prose.Count(missing, "host"), fabric.Escape(word))}
}

// SetMembers returns the hosts of a named set in a fabric.
func (c *Call) SetMembers(f *fabric.Fabric, name string) (*Members, error) {
	st := c.Session.State()
	m := &Members{}
	if set := st.Sets.Named(name); set != nil {
		m.Reachable, m.Unreachable, m.Missing = set.In(f)
		return m, nil
	}
	set, err := c.HostSet(name, time.Time{}, time.Time{})
	if err != nil {
		return nil, err
	}
	ends, missing, err := set.Ends(f, &places.HostFinder{Fabric: f})
	m.Missing = missing
	for _, e := range ends {
		if f.Reachable(e) {
			m.Reachable = append(m.Reachable, e)
		} else {
			m.Unreachable = append(m.Unreachable, e)
		}
	}
	return m, err
}

// NoSet returns the error for a set of hosts that the session does not have.
func NoSet(st *session.State, name string) error {
	return noSet(prose.Words(st.Sets, func(s session.HostSet) string { return s.Name }), name)
}

// noSet returns the error for an unknown set of hosts. It suggests a similar name.
func noSet(names []string, name string) error {
	if len(names) == 0 {
		return fmt.Errorf("unknown host set %q: no set is defined; hint: 'hosts %s node[0001-0064]' defines a "+
			"set",
			fabric.Escape(name), fabric.Escape(name))
	}
	if near := prose.Nearest(name, names); near != "" {
		return fmt.Errorf("unknown host set %q: did you mean %q?", fabric.Escape(name), near)
	}
	return fmt.Errorf("unknown host set %q; hint: 'hosts' lists the sets", fabric.Escape(name))
}

// SetOf returns a set of hosts with a name.
func SetOf(name string, f *fabric.Fabric, ends []fabric.PortIndex) session.HostSet {
	set := session.HostSet{Name: name}
	for _, e := range ends {
		set.Ports = append(set.Ports, f.Ports[e].GUID)
	}
	return set
}

// Chosen are nodes from whose hosts a set is made. A switch means the hosts that are attached to it.
type Chosen struct {
	Words    string // arguments of the command hosts
	Switches int
	Hosts    int // number of hosts of the set
}

// String returns the number of hosts: "2 switches, 36 hosts".
func (c Chosen) String() string {
	return prose.When(c.Switches > 0, prose.Count(c.Switches, "switch")+", ", "") +
		prose.Count(c.Hosts, "host")
}

// Choose returns the hosts of nodes.
func Choose(f *fabric.Fabric, nodes []fabric.NodeIndex) Chosen {
	finder := places.HostFinder{Fabric: f}
	var c Chosen
	var hosts, words []string
	members := map[fabric.PortIndex]bool{}
	for _, n := range nodes {
		node := &f.Nodes[n]
		name := places.HostName(node)
		ends, err := finder.Find(name)
		alone := err == nil && len(ends) > 0 && !slices.ContainsFunc(ends, func(e fabric.PortIndex) bool {
			return f.Ports[e].Node != n
		})
		if alone && !node.IsSwitch() {
			hosts = append(hosts, name)
		} else {
			name = places.NodeRef(f, n)
			words = append(words, lang.Quote(name))
			ends, _ = finder.Find(name) // it fails only in the command, with the reason
		}
		c.Switches += prose.When(node.IsSwitch(), 1, 0)
		for _, e := range ends {
			members[e] = true
		}
	}
	if len(hosts) > 0 {
		words = append(words, slurm.Hostlist(hosts))
	}
	c.Words, c.Hosts = strings.Join(words, " "), len(members)
	return c
}

// WhyNoSet returns the reason why the hosts do not make a set, or "".
func (c Chosen) WhyNoSet() string { return WhyNoSet(c.Hosts) }

// WhyNoSet returns the reason why a number of hosts do not make a set, or "".
func WhyNoSet(hosts int) string {
	return prose.When(hosts < 2, prose.Count(hosts, "host")+": a set has at least 2 hosts", "")
}

// NameHosts adds a set of hosts to the session. It replaces a set with the same name. A set without ports only removes
// that set.
func NameHosts(s *session.Session, set session.HostSet) {
	s.Publish(session.ChangeSettings, func(st *session.State) { st.Sets = st.Sets.With(set) })
}
