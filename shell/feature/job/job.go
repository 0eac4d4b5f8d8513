// SPDX-License-Identifier: Apache-2.0

// Package job lists the events and errors on the paths of a job during its run, and the jobs that used a link.
package job

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/jobs"
	"example.org/ibconsole/shell/session/recorded"
)

// Feature has the commands about jobs.
var Feature = feature.Feature{Name: "job", Keys: []feature.Key{
	{Name: "jobs-on", Keys: "J", Help: "list the jobs whose hosts used the selected link or node recently"},
	{Name: "why", Keys: "Y", Help: "find the links that slowed the selected job in an answer of J or X"},
}, Commands: []feature.Command{{
	Path:    "job",
	Group:   feature.GroupRecord,
	Summary: "Show events and errors on the paths of a job",
	Help: "The hosts and times of the job come from Slurm (scontrol, then sacct), or from hosts=LIST and " +
		"since=TIME.\nThe hosts become the set job-ID. The screen, the command hosts, and check load " +
		"pattern=hosts:@job-ID use this set.",
	Args: []lang.Arg{{Name: "ID", Kind: lang.KindText}},
	Options: []lang.Option{
		hostsOption,
		{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "begin of the job; " + when.Help},
		{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "end of the job (default now)"},
	},
	Examples: []string{
		"job 4711 hosts=node-[0001-0064] since=2h",
		"job 4711 hosts=node-[0001-0064] since=2h until=1h",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}, jobsCommand, onCommand, whyCommand}}

var hostsOption = lang.Option{Name: "hosts", Kind: lang.KindText, Value: "@SET|LIST",
	Summary: "a set of hosts, or a host list of Slurm: node[0001-0064]"}

// job holds the events and errors of a job.
type job struct {
	ID       string       `key:"id"`
	Name     answer.Value `key:"name" kind:"text"`
	User     answer.Value `key:"user" kind:"text"`
	State    answer.Value `key:"state" kind:"text"`
	Set      string       `key:"set" help:"the set of its hosts"`
	Hosts    int          `key:"hosts" help:"hosts of the set"`
	Since    time.Time    `key:"since"`
	Until    time.Time    `key:"until"`
	Links    int          `key:"links" help:"directions of links that its paths take, by the live tables"`
	Happened int          `name:"events"`
	Counted  int          `name:"ports with errors"`

	f       *fabric.Fabric
	moments []timeline.Moment
	missing []string
	errors  []feature.GrowthRow
	unread  answer.Unread
}

// missing is a host of the job that is not in the subnet.
type missing struct {
	Name string `key:"name" name:"HOST"`
}

// maxListed is the number of rows in text.
const maxListed = 20

var (
	missingTable = answer.Table[missing]{
		Key: "not_in_subnet", Title: "hosts that are not in the subnet", MaxRows: maxListed,
		Fields: answer.Fields[missing](), Row: "  not in the subnet: {name}",
	}
	errorTable = answer.Table[feature.GrowthRow]{
		Key: "errors", Title: "ports with errors", Help: "ports of its paths that counted errors or waits",
		MaxRows: maxListed, Fields: answer.Fields[feature.GrowthRow](),
		Row: "  {PORT}: {COUNTED}, the first by {first}",
	}
	eventTable = feature.MomentTable("  {when}  {text}", "")
)

var decl = answer.Decl[*job]{
	Command: "job", Help: "events and errors on the paths of a job while it ran",
	Title: "job {id} in {of}[, {name}][, {user}][, {state}], from {since} to {until}: {hosts|host}, the set {set}, " +
		"with paths over {links|direction of links}",
	Facts: answer.Fields[*job](),
	Layout: []answer.Item[*job]{
		{Table: answer.Show(&missingTable, func(j *job) answer.Rows[missing] {
			return answer.Lazy(len(j.missing), func(i int) missing { return missing{j.missing[i]} })
		})},
		{Line: "{events|event} on its paths, or of the whole subnet"},
		{Table: answer.Show(eventTable, func(j *job) answer.Rows[feature.Moment] {
			return feature.Moments(j.f, j.moments)
		})},
		{Line: "{ports with errors|port} of its paths counted errors or waits"},
		{Table: answer.Show(&errorTable, func(j *job) answer.Rows[feature.GrowthRow] {
			return answer.Slice(j.errors)
		})},
	},
}

func run(c *feature.Call) error {
	id := c.Arg(0)
	if !jobs.ID.MatchString(id) {
		return c.Misused("invalid job ID %q", id)
	}
	found, err := find(c, id)
	if err != nil {
		return err
	}
	st := c.Session.State()
	p := st.Live
	j := &job{
		ID: id, Name: answer.Optional(found.Name), User: answer.Optional(found.User),
		State: answer.Optional(found.State), Set: feature.JobSet(id),
		Since: found.From.Local(), Until: found.Until.Local(), f: p.Fabric,
	}
	if found.Until.IsZero() {
		j.Until = time.Now()
	}
	ends, err := j.name(c, found.Hosts)
	if err != nil {
		return err
	}
	on, err := j.paths(c, p, ends)
	if err != nil {
		return err
	}
	b := st.Basis(p, session.NeedLinks|session.NeedTables)
	if err := errors.Join(j.events(c, on), j.count(c, &b, on)); err != nil {
		return err
	}
	b.Unread = b.Unread.Add(j.unread)
	return c.Answer(decl.Answer(b, j))
}

// find returns the job that the options describe. Without such options, it reads the job from Slurm.
func find(c *feature.Call, id string) (*jobs.Job, error) {
	list := c.Option("hosts", "")
	if list == "" {
		found, err := jobs.Find(c.Ctx, id)
		if err != nil {
			return nil, fmt.Errorf("%w; hint: name the hosts and the begin with hosts=LIST since=TIME", err)
		}
		return found, nil
	}
	since, until, err := c.Span("1h")
	if err != nil {
		return nil, err
	}
	run, err := c.Hosts(list, since, until)
	if err != nil {
		return nil, err
	}
	return &jobs.Job{ID: id, Hosts: run.Job.Hosts, From: since, Until: until}, nil
}

// name resolves the hosts of the job in the subnet. It creates a set of these hosts and returns their end ports.
func (j *job) name(c *feature.Call, list string) ([]fabric.PortIndex, error) {
	finder := places.HostFinder{Fabric: j.f}
	ends, missing, err := finder.JobEnds(list)
	if err != nil {
		return nil, err
	}
	j.missing = missing
	if j.Hosts = len(ends); j.Hosts == 0 {
		return nil, fmt.Errorf("none of the hosts of job %s is in the subnet: %s", j.ID, fabric.Escape(list))
	}
	feature.NameHosts(c.Session, feature.SetOf(j.Set, j.f, ends))
	return ends, nil
}

// notRead adds data that was not read to the unread parts of the answer, with the cause.
func (j *job) notRead(what, why string) {
	j.unread = j.unread.Add(answer.Unread{Count: 1, Causes: []answer.Cause{{What: what, Why: why, Count: 1}}})
}

// paths returns the ports on the paths between the hosts of the job, at both ends of each link.
func (j *job) paths(c *feature.Call, p *session.Picture, ends []fabric.PortIndex) (map[counters.Key]bool, error) {
	on := map[counters.Key]bool{}
	both := func(port fabric.PortIndex) {
		on[counters.KeyOf(j.f, port)] = true
		if peer := j.f.Ports[port].Peer; peer != fabric.None {
			on[counters.KeyOf(j.f, peer)] = true
		}
	}
	for _, e := range ends {
		both(e)
	}
	m, why, err := feature.PathsAmong(c.Ctx, p, ends)
	if why != "" {
		j.notRead("set of paths of the job", why)
	}
	if err != nil {
		return nil, err
	}
	for port, n := range m {
		if n > 0 {
			j.Links++
			both(fabric.PortIndex(port))
		}
	}
	return on, nil
}

// events collects the events during the job: those of its nodes and links, and those of tables, subnet managers and
// commits.
func (j *job) events(c *feature.Call, on map[counters.Key]bool) error {
	line, err := c.Session.Timeline(c.Ctx, j.Since, j.Until)
	if err != nil {
		return err
	}
	nodes := map[uint64]bool{}
	for k := range on {
		nodes[k.GUID] = true
	}
	for _, m := range line.Moments {
		about := m.GUID == 0 || on[counters.Key{GUID: m.GUID, Num: uint8(m.Port)}]
		if !about && nodes[m.GUID] { // a node of its paths, or a port that its paths no longer take
			node := j.f.NodeByGUID(m.GUID)
			about = m.What == history.WhatNode || node != fabric.None && !j.f.Nodes[node].IsSwitch()
		}
		if about {
			j.moments = append(j.moments, m)
		}
	}
	j.Happened = len(j.moments)
	if line.Why != nil {
		j.notRead("part of the events", line.Why.Error())
	}
	return nil
}

// count collects the ports on the paths of the job whose error counters increased.
func (j *job) count(c *feature.Call, b *answer.Basis, on map[counters.Key]bool) error {
	got, err := c.Session.Recorded().Between(c.Ctx, counters.Errors, j.Since, j.Until)
	if errors.Is(err, recorded.ErrNone) {
		j.notRead("record of counters", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if gaps := feature.NotRecorded(&got); gaps != "" {
		j.notRead("part of the record of counters", gaps)
	}
	var silent []fabric.PortIndex
	for k := range on {
		if !got.Read[k] {
			silent = append(silent, k.In(j.f))
		}
	}
	slices.Sort(silent)
	feature.NotRead(b, j.f, "port record", "nothing was recorded", silent)
	mine := slices.DeleteFunc(slices.Clone(got.Totals), func(x records.Total) bool { return !on[x.Key] })
	for _, x := range feature.RankedGrowth(j.f, mine) {
		j.errors = append(j.errors, feature.GrowthRowOf(j.f, &x))
	}
	j.Counted = len(j.errors)
	return nil
}
