// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/slurm"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/jobs"
)

func jobCommands() []Spec {
	return []Spec{{
		Name: "job", Summary: "what happened to a job: its hosts become a set, with events and errors on its paths while it ran", Run: runJob,
		Help: "Slurm is asked for its hosts and times (scontrol, then sacct); where there is none, hosts= and since= say them.\nThe set is called job-ID, for hosts, check load pattern=hosts:@job-ID and the screen.",
		Args: []lang.Arg{{Name: "ID", Kind: lang.KindText}},
		Options: []lang.Option{
			{Name: "hosts", Kind: lang.KindText, Value: "LIST", Summary: "its hosts, as Slurm lists them: node[0001-0064]"},
			{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "when it began; " + when.Help},
			{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "when it ended; now"},
		},
	}}
}

// jobAnswer is what happened to a job.
type jobAnswer struct {
	ID    string `json:"id"`
	Name  string `json:"name,omitempty"`
	User  string `json:"user,omitempty"`
	State string `json:"state,omitempty"`
	// Hosts of the subnet are in the set, Missing are those that it has not.
	Set     string    `json:"set"`
	Hosts   int       `json:"hosts"`
	Missing []string  `json:"not_in_subnet,omitempty"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	// Links is how many directions of links its paths take, by the tables of now.
	Links   int         `json:"links"`
	Events  []momentRow `json:"events"`
	Errors  []*jobPort  `json:"errors"`
	Unknown []string    `json:"unknown,omitempty"`
}

func runJob(c *call) error {
	id := c.Arg(0)
	if !jobs.ID.MatchString(id) {
		return c.Misused("%q is no number of a job", id)
	}
	job, err := c.findJob(id)
	if err != nil {
		return err
	}
	a := &jobAnswer{
		ID: id, Name: fabric.Escape(job.Name), User: fabric.Escape(job.User), State: fabric.Escape(job.State), Set: "job-" + strings.NewReplacer("+", ".").Replace(id),
		Since: job.From, Until: job.Until, Events: []momentRow{}, Errors: []*jobPort{},
	}
	if a.Until.IsZero() {
		a.Until = time.Now()
	}
	p := c.session.State().Live
	ends, err := a.name(c, p.Fabric, job.Hosts)
	if err != nil {
		return err
	}
	on, err := a.paths(c, p, ends)
	if err != nil {
		return err
	}
	if err := errors.Join(a.events(c, p.Fabric, on), a.count(c, on)); err != nil {
		return err
	}
	return c.out.Answer(a)
}

// findJob is what the options say of a job, and else Slurm.
func (c *call) findJob(id string) (*jobs.Job, error) {
	list := c.Option("hosts", "")
	if list == "" {
		job, err := jobs.Find(c.ctx, id)
		if err != nil {
			return nil, fmt.Errorf("%w (hosts=LIST since=TIME say what Slurm does not)", err)
		}
		return job, nil
	}
	since, until, err := c.feature().Span("1h")
	return &jobs.Job{ID: id, Hosts: list, From: since, Until: until}, err
}

// name makes the set of the job's hosts.
func (a *jobAnswer) name(c *call, f *fabric.Fabric, list string) ([]fabric.PortIndex, error) {
	names, err := slurm.Expand(list)
	if err != nil {
		return nil, err
	}
	finder := hostFinder{f: f}
	var ends []fabric.PortIndex
	for _, name := range names {
		found, err := finder.find(name)
		if err != nil {
			a.Missing = append(a.Missing, fabric.Escape(name))
		}
		ends = append(ends, found...)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	if a.Hosts = len(ends); a.Hosts == 0 {
		return nil, fmt.Errorf("none of the hosts of job %s is in the subnet: %s", a.ID, fabric.Escape(list))
	}
	set := session.HostSet{Name: a.Set}
	for _, e := range ends {
		set.Ports = append(set.Ports, f.Ports[e].GUID)
	}
	c.session.NameHosts(set)
	return ends, nil
}

// paths are the ports that the job's paths take: what packets among its hosts leave by, and come in by.
func (a *jobAnswer) paths(c *call, p *session.Picture, ends []fabric.PortIndex) (map[counters.Key]bool, error) {
	on := map[counters.Key]bool{}
	f := p.Fabric
	both := func(port fabric.PortIndex) {
		on[counters.KeyOf(f, port)] = true
		if peer := f.Ports[port].Peer; peer != fabric.None {
			on[counters.KeyOf(f, peer)] = true
		}
	}
	for _, e := range ends {
		both(e)
	}
	switch {
	case p.Tables == nil:
		a.Unknown = append(a.Unknown, "the paths of the job: there are no tables")
		return on, nil
	case len(ends) > feature.MostGranted:
		a.Unknown = append(a.Unknown, fmt.Sprintf("the paths of the job: %d hosts are too many to follow all paths among them", len(ends)))
		return on, nil
	}
	m, err := linkload.Measure(c.ctx, p.Tables, linkload.Among(p.Fabric, ends))
	if err != nil {
		return nil, err
	}
	for port, n := range m.Paths {
		if n > 0 {
			a.Links++
			both(fabric.PortIndex(port))
		}
	}
	return on, nil
}

// events are those of the job's time that are about its nodes and links, or about tables, managers and commits.
func (a *jobAnswer) events(c *call, f *fabric.Fabric, on map[counters.Key]bool) error {
	line, err := c.session.Timeline(c.ctx, a.Since, a.Until)
	if err != nil {
		return err
	}
	nodes := map[uint64]bool{}
	for k := range on {
		nodes[k.GUID] = true
	}
	for _, m := range line.Moments {
		about := m.GUID == 0 || on[counters.Key{GUID: m.GUID, Num: uint8(m.Port)}]
		if !about && nodes[m.GUID] { // a node of its paths, or a port of one that its paths do not take any more
			node := f.NodeByGUID(m.GUID)
			about = m.What == session.WhatNode || node != fabric.None && !f.Nodes[node].IsSwitch()
		}
		if about {
			a.Events = append(a.Events, newMomentRow(m))
		}
	}
	if line.Why != nil {
		a.Unknown = append(a.Unknown, fmt.Sprintf("events: %v", line.Why))
	}
	return nil
}

// count takes the ports of the job's paths that counted errors.
func (a *jobAnswer) count(c *call, on map[counters.Key]bool) error {
	recorded, err := c.session.Recorded(c.ctx, counters.Errors, a.Since, a.Until)
	if errors.Is(err, session.ErrNoRecords) {
		a.Unknown = append(a.Unknown, fmt.Sprintf("what ports counted: %v", err))
		return nil
	}
	if err != nil {
		return err
	}
	if gaps := feature.NotRecorded(&recorded); gaps != "" {
		a.Unknown = append(a.Unknown, "what ports counted: "+gaps)
	}
	notRead := 0
	for k := range on {
		notRead += prose.When(recorded.Read[k], 0, 1)
	}
	if notRead > 0 {
		a.Unknown = append(a.Unknown, "what ports counted: of "+count(notRead, "port")+" of its paths nothing was read")
	}
	mine := slices.DeleteFunc(slices.Clone(recorded.Totals), func(x records.Total) bool { return !on[x.Key] })
	f := c.session.State().Live.Fabric
	for _, x := range feature.MostCounted(f, mine) {
		a.Errors = append(a.Errors, jobPortOf(f, x))
	}
	return nil
}

func (a *jobAnswer) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "job %s", a.ID)
	for _, word := range []string{a.Name, a.User, a.State} {
		if word != "" {
			_, _ = fmt.Fprintf(w, ", %s", word)
		}
	}
	_, _ = fmt.Fprintf(w, ", from %s to %s: %s, the set %s, with paths over %d directions of links\n",
		a.Since.Local().Format(time.DateTime), a.Until.Local().Format(time.DateTime), count(a.Hosts, "host"), a.Set, a.Links)
	list(w, "not in the subnet", a.Missing)
	_, _ = fmt.Fprintf(w, "%s on its paths, or of the whole subnet\n", count(len(a.Events), "event"))
	for _, e := range a.Events {
		_, _ = fmt.Fprintf(w, "  %s  %s\n", e.When.Local().Format(time.DateTime), e.Text)
	}
	_, _ = fmt.Fprintf(w, "%s of its paths counted errors or waits\n", count(len(a.Errors), "port"))
	for _, r := range a.Errors[:min(len(a.Errors), maxListed)] {
		_, _ = fmt.Fprintf(w, "  %s: %s, the first by %s\n", r.Port, r.of.Text, r.of.First.Format(time.DateTime))
	}
	for _, text := range a.Unknown {
		_, _ = fmt.Fprintf(w, "not known: %s\n", text)
	}
}

// Tables has the events and the ports.
func (a *jobAnswer) Tables() []Table {
	return []Table{
		{Title: "ports with errors", Columns: []string{"PORT", "TO", "COUNTED", "AN HOUR", "FIRST BY", "LAST BY"}, Rows: rowsOf(a.Errors)},
		{Title: eventsTitle, Columns: []string{"WHEN", "WHAT", "EVENT", "WHO", "BEFORE", "AFTER"}, Rows: rowsOf(a.Events)},
	}
}

// jobPort is a port of the paths of a job with what it counted.
type jobPort struct {
	leads
	Port     string             `json:"port"`
	To       string             `json:"to,omitempty"`
	Counters map[string]uint64  `json:"counters"`
	PerHour  map[string]float64 `json:"per_hour"`
	AtLeast  []string           `json:"at_least,omitempty"`
	First    string             `json:"first,omitempty"` // by when it had grown for the first time
	Last     string             `json:"last,omitempty"`
	of       feature.Counted
}

func (r *jobPort) Cells() []any {
	first, last := "-", "-"
	if !r.of.First.IsZero() {
		first, last = r.of.First.Format(time.DateTime), r.of.Last.Format(time.DateTime)
	}
	return []any{r.Port, orDash(r.To), r.of.Text, fmt.Sprintf("%.3g", r.of.PerHour), first, last}
}

func jobPortOf(f *fabric.Fabric, x feature.Counted) *jobPort {
	r := &jobPort{leads{feature.ToPort(f, x.Port)}, x.Name, x.To(f), map[string]uint64{}, map[string]float64{}, nil, "", "", x}
	for _, n := range x.Counts {
		name := n.Counter.String()
		r.Counters[name], r.PerHour[name] = n.Increase, n.PerSecond()*3600
		if n.AtLeast {
			r.AtLeast = append(r.AtLeast, name)
		}
	}
	if !x.First.IsZero() {
		r.First, r.Last = x.First.Format(time.RFC3339), x.Last.Format(time.RFC3339)
	}
	return r
}
