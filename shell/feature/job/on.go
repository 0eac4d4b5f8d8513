// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/joblinks"
	"example.org/ibconsole/shell/session/recorded"
)

var (
	jobsCommand = feature.Command{
		Path: "jobs", Group: feature.GroupRecord, Summary: "List the jobs whose hosts used a link or a node",
	}
	onCommand = feature.Command{
		Path:    "jobs on",
		Summary: "List the jobs whose hosts used a link or a node",
		Help: "The jobs come from Slurm (sacct). If that fails, the recorded sets of hosts are listed (record start " +
			"hosts=FILE), for the\ntime in which they were defined, and the other sets of the command hosts for the " +
			"whole period.\nA job is listed if the paths between its hosts use the place, or if one of its hosts is " +
			"attached to it. The paths\nfollow the tables that the switches had while the job ran, from the history. " +
			"PAIRS is the largest number of these\nstates. OUTAGES are the recorded outages of the link, or of links " +
			"of the node, during the job.",
		Args: []lang.Arg{
			{Name: "NODE[/PORT]", Kind: lang.KindPlace}, {Name: "PORT", Kind: lang.KindPort, Optional: true},
		},
		Options: []lang.Option{
			{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "from this time; " + when.Help, Default: "2h"},
			{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "up to this time (default now)"},
		},
		Examples: []string{
			"hosts job1 leaf-01 leaf-02; jobs on leaf-01 36 since=2h",
			"hosts job1 leaf-01 leaf-02; jobs on spine-01 since=yesterday until=1h",
		},
		Answers: []answer.Declared{&onDecl},
		Run:     runOn,
	}
)

// maxStates is the maximum number of states in a row of jobs on.
const maxStates = 3

// users is the answer of jobs on.
type users struct {
	What      string    `key:"what" help:"the link or the node"`
	Since     time.Time `key:"since"`
	Until     time.Time `key:"until"`
	Count     int       `key:"count" help:"jobs that used it"`
	All       int       `key:"all" help:"jobs that ran in the period"`
	Elsewhere int       `key:"not_in_subnet" help:"jobs without a host in the subnet"`
	Source    string    `key:"source" help:"sacct, or sets of hosts"`

	jobs   []user
	states []state
}

// user is a row: a job that used the place.
type user struct {
	Job      string       `key:"job" name:"JOB" help:"Slurm's ID, or the name of a set of hosts"`
	Name     answer.Value `key:"name" kind:"text" help:"Slurm's name of the job"`
	User     answer.Value `key:"user" name:"USER" kind:"text"`
	Hosts    int          `key:"hosts" name:"HOSTS" help:"end ports of its hosts in the subnet"`
	List     answer.Value `key:"host_list" kind:"text" help:"the hosts as Slurm lists them"`
	Missing  int          `key:"hosts_not_in_subnet" help:"hosts of the job that are not in the subnet"`
	From     time.Time    `key:"from" name:"FROM"`
	To       answer.Value `key:"to" name:"TO" kind:"time" help:"none while it runs"`
	Pairs    answer.Value `key:"pairs" kind:"int" help:"pairs whose paths used it; not read without tables"`
	AtLeast  bool         `key:"at_least" help:"there may be more pairs"`
	Over     string       `name:"PAIRS" help:"pairs whose paths used it"`
	Attached bool         `key:"attached" help:"a host of the job is attached to it"`
	Shared   int          `key:"shared_with" name:"SHARED WITH" help:"listed jobs that ran at the same time"`
	Outages  answer.Value `key:"outages" name:"OUTAGES" kind:"int" help:"while it ran; not read if not recorded"`
	Tables   string       `key:"tables" name:"TABLES" help:"the states whose tables it used"`
	Assumed  bool         `key:"tables_assumed" help:"tables of another time were used for a part of its time"`
	answer.Lead
}

// state is a row: a state whose tables were followed.
type state struct {
	Name  string    `key:"state" name:"STATE" help:"live, or the number of the entry of the history"`
	Since time.Time `key:"read_since" name:"READ SINCE"`
	Until time.Time `key:"read_until" name:"READ UNTIL"`
}

var onDecl = answer.Decl[*users]{
	Command: "jobs on", Help: "the jobs whose hosts used a link or a node",
	Title: "{what} in {of}, from {since} to {until}: {count} of {all|job} used it",
	Facts: answer.Fields[*users](),
	Layout: []answer.Item[*users]{
		{Table: answer.Show(&answer.Table[user]{
			Key: "jobs", Title: "jobs", Stream: true, Fields: answer.Fields[user](),
			Empty: "no job is known to have used it",
		}, func(u *users) answer.Rows[user] { return answer.Slice(u.jobs) })},
		{
			Line: "  {not_in_subnet|job} without a host in this subnet",
			When: func(u *users) bool { return u.Elsewhere > 0 },
		},
		{Table: answer.Show(&answer.Table[state]{
			Key: "states", Title: "tables", Fields: answer.Fields[state](),
			Row: "  tables of {state}, read from {read_since} to {read_until}",
		}, func(u *users) answer.Rows[state] { return answer.Slice(u.states) })},
	},
}

func runOn(c *feature.Call) error {
	since, until, err := c.Span("2h")
	if err != nil {
		return err
	}
	place, what, err := placeOn(c, since)
	if err != nil {
		return err
	}
	all, err := joblinks.List(c.Ctx, c.Session, since, until)
	if err != nil {
		return err
	}
	found, err := all.On(c.Ctx, place, since, until)
	if err != nil {
		return err
	}
	outages, observed, err := outagesOf(c, place, since, until)
	if err != nil {
		return err
	}
	st := c.Session.State()
	b := st.Basis(st.Live, 0)
	u := &users{What: what, Since: since, Until: until, Count: len(found.Uses), All: len(all.Runs),
		Elsewhere: found.Elsewhere}
	source, warning := all.Source()
	if u.Source = source; warning != "" {
		b.Warnings = append(b.Warnings, warning)
	}
	for _, seen := range found.States {
		u.states = append(u.states, state{stateName(seen), seen.Began.Local(), seen.Until.Local()})
	}
	for i := range found.Uses {
		x := rowOf(&found.Uses[i], found.NoTables == len(found.States))
		for k := range found.Uses {
			if o := &found.Uses[k]; k != i && found.Uses[i].During(o.From, o.End(until)) {
				x.Shared++
			}
		}
		x.Outages = outagesDuring(&found.Uses[i], outages, observed, since, until)
		u.jobs = append(u.jobs, x)
	}
	noteUnknown(&b, found)
	return c.Answer(onDecl.Answer(b, u))
}

// placeOn returns the link or node of the arguments and its name. A node that has left the subnet is found in the state
// at the time in the argument since.
func placeOn(c *feature.Call, since time.Time) (problems.Place, string, error) {
	f := c.Session.State().Live.Fabric
	place, what, err := resolveOn(f, c.Args)
	if err == nil {
		return place, what, nil
	}
	if past, e := c.Session.At(c.Ctx, since); e == nil && past.Fabric != f {
		if place, what, e := resolveOn(past.Fabric, c.Args); e == nil {
			return place, what, nil
		}
	}
	return place, "", c.LinkError(err)
}

func resolveOn(f *fabric.Fabric, args []string) (problems.Place, string, error) {
	at, err := places.Resolve(f, args[0])
	if err != nil {
		return problems.Place{}, "", err
	}
	if n := &f.Nodes[at.Node]; len(args) == 1 && (!at.PortNamed || f.Ports[at.Port].Num == 0 || n.NumPorts == 1) {
		return problems.PlaceOfNode(f, at.Node), f.NodeName(at.Node), nil
	}
	port, err := places.Link(f, args)
	if err != nil {
		return problems.Place{}, "", err
	}
	name := f.PortName(port)
	if peer := f.Ports[port].Peer; peer != fabric.None {
		name += " -- " + f.PortName(peer)
	}
	return problems.PlaceOfPort(f, port), name, nil
}

// outagesOf returns the recorded outages of a place, and the periods in which a recorder looked for them.
func outagesOf(c *feature.Call, place problems.Place, since, until time.Time) ([]records.Outage, []records.Span,
	error) {
	store, err := c.Session.Recorded().Store(c.Ctx)
	if errors.Is(err, recorded.ErrNone) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	all, err := store.Outages(c.Ctx, c.Session.Subnet(), since, until)
	if err != nil {
		return nil, nil, err
	}
	is := func(e fabric.End) bool { return e.GUID == place.GUID && (place.Port < 0 || e.Port == place.Port) }
	all = slices.DeleteFunc(all, func(o records.Outage) bool { return !is(o.A) && !is(o.B) })
	_, observed, err := store.Problems(c.Ctx, c.Session.Subnet(), since, until)
	return all, observed, err
}

// outagesDuring returns the number of outages while a job ran in the period. It is not read if there was none and no
// recorder looked for outages for a part of that time.
func outagesDuring(x *joblinks.Use, all []records.Outage, observed []records.Span, since,
	until time.Time) answer.Value {
	n := 0
	for i := range all {
		if x.Outage(&all[i], until) {
			n++
		}
	}
	if x.From.After(since) {
		since = x.From
	}
	if end := x.End(until); end.Before(until) {
		until = end
	}
	if n == 0 && records.TotalTime(records.Within(observed, since, until)) < until.Sub(since)-records.Unobserved {
		return answer.NotRead()
	}
	return answer.Int(int64(n))
}

func stateName(seen timeline.Seen) string {
	if seen.Entry == 0 {
		return string(session.Live)
	}
	return string(session.Recorded) + strconv.FormatInt(seen.Entry, 10)
}

func rowOf(x *joblinks.Use, noTables bool) user {
	u := user{
		Job: x.ID, Name: answer.Optional(fabric.Escape(x.Name)), User: answer.Optional(fabric.Escape(x.User)),
		Hosts: x.Hosts, List: answer.Optional(fabric.Escape(x.Job.Hosts)), Missing: x.Missing, From: x.From.Local(),
		To: answer.None(), Pairs: answer.Int(x.Pairs), AtLeast: x.AtLeast, Over: strconv.FormatInt(x.Pairs, 10),
		Attached: x.Attached, Assumed: x.Assumed, Tables: prose.List(prose.Words(x.States, stateName), maxStates),
		Lead: answer.Lead{Command: "job " + x.ID},
	}
	if !x.Job.Until.IsZero() {
		u.To = answer.Time(x.Job.Until.Local())
	}
	if x.IsSet {
		u.Lead = answer.Lead{Command: "hosts " + x.ID}
	}
	if x.Assumed {
		u.Tables += " (assumed)"
	}
	switch {
	case noTables:
		u.Pairs, u.Over = answer.NotRead(), "not read"
	case x.AtLeast:
		u.Over = "at least " + u.Over
	}
	return u
}

// noteUnknown adds the unknown parts of the result to the unread parts of the answer.
func noteUnknown(b *answer.Basis, found *joblinks.Found) {
	why := "the tables of a part of its time are not known; those of another time were used"
	if found.Why != nil {
		why = fmt.Sprintf("%s: %v", why, found.Why)
	}
	for _, id := range found.Assumed {
		b.Unread.Note("job", why, 1, answer.Place{Name: id, Port: -1})
	}
	if n := found.NoTables; n > 0 {
		b.Unread.Note("state", "it has no forwarding tables", n, answer.Place{})
	}
	if n := found.Older; n > 0 {
		b.Unread.Note("state", "there are too many; hint: shorten the period with since= and until=", n, answer.Place{})
	}
}
