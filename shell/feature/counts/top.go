// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/joblinks"
	"example.org/ibconsole/shell/session/recorded"
)

// topWords are the things that counters top ranks.
var topWords = []string{topHosts, topLinks, topJobs}

const (
	topHosts = "hosts"
	topLinks = "links"
	topJobs  = "jobs"
)

// topCounters are the counters of traffic: a port sends what its peer receives.
var topCounters = counters.Of(counters.XmitData, counters.RcvData)

var topCommand = feature.Command{
	Path:    "counters top",
	Summary: "List the hosts, links or jobs with most traffic",
	Help: "Traffic is PortXmitData and PortRcvData, in bytes. Rates are averages over the recorded time. A link is " +
		"listed once. If\na port was not read, the port at the other end of its link gives the figure.\ncounters top " +
		"jobs reads the jobs of the period from Slurm (sacct). If that fails, it ranks the sets of hosts that " +
		"the\ncommand hosts has named. The traffic of a job is that of its hosts while it ran. A host that several " +
		"jobs share counts\nfor each of them.",
	Args: []lang.Arg{{Kind: lang.KindWord, Words: topWords, Optional: true}},
	Options: []lang.Option{sinceOption, untilOption,
		{Name: "hosts", Kind: lang.KindText, Value: "@SET|LIST", Summary: "only these hosts, their links or their " +
			"jobs: a set, or a host list of Slurm"},
		{Name: "limit", Kind: lang.KindInt, Summary: "number of listed hosts, links or jobs (default 20)"}},
	Examples: []string{"counters top", "counters top links since=1w",
		"hosts job1 leaf-01; counters top hosts hosts=@job1", "counters top jobs since=yesterday"},
	Answers: []answer.Declared{&topHostsDecl, &topLinksDecl, &topJobsDecl},
	Run:     runTop,
}

// flow is the data of one direction.
type flow struct {
	bytes     uint64
	perSecond float64
	least     bool // it was at least so much
	read      bool
}

// plus returns the sum of two flows. A flow that was not read makes the sum a lower bound.
func (a flow) plus(b flow) flow {
	return flow{a.bytes + b.bytes, a.perSecond + b.perSecond, a.least || b.least || a.read != b.read, a.read || b.read}
}

// measured holds recorded traffic.
type measured struct {
	f    *fabric.Fabric
	read map[counters.Key]bool
	of   map[counters.Key][]records.Count
}

func newMeasured(f *fabric.Fabric, r *records.Recorded) *measured {
	m := &measured{f: f, read: r.Read, of: map[counters.Key][]records.Count{}}
	for i := range r.Totals {
		m.of[r.Totals[i].Key] = r.Totals[i].Counts
	}
	return m
}

func (m *measured) counted(port fabric.PortIndex, c counters.Counter) flow {
	if port == fabric.None {
		return flow{}
	}
	key := counters.KeyOf(m.f, port)
	out := flow{read: m.read[key]}
	for _, n := range m.of[key] {
		if n.Counter == c {
			out.bytes, out.perSecond, out.least = 4*n.Increase, 4*n.PerSecond(), n.AtLeast
		}
	}
	return out
}

// sent returns the data that a port sent. The port and its peer both count it; the better figure is returned: an exact
// one, otherwise the larger one.
func (m *measured) sent(port fabric.PortIndex) flow {
	return better(m.counted(port, counters.XmitData), m.counted(m.f.Ports[port].Peer, counters.RcvData))
}

// received is like [measured.sent] for the data that a port received.
func (m *measured) received(port fabric.PortIndex) flow {
	return better(m.counted(port, counters.RcvData), m.counted(m.f.Ports[port].Peer, counters.XmitData))
}

func better(own, peers flow) flow {
	switch {
	case own.read != peers.read:
		return prose.When(own.read, own, peers)
	case own.least != peers.least:
		return prose.When(own.least, peers, own)
	case peers.bytes > own.bytes:
		return peers
	}
	return own
}

// amounts are the columns of the data that something sent and received.
type amounts struct {
	Sent         string       `name:"SENT"`
	Received     string       `name:"RECEIVED"`
	SentBytes    answer.Value `key:"sent_bytes" kind:"int" unit:"B" help:"PortXmitData in bytes"`
	GotBytes     answer.Value `key:"received_bytes" kind:"int" unit:"B" help:"PortRcvData in bytes"`
	SentGbps     answer.Value `key:"sent_gbps" name:"SENT Gb/s" kind:"float" help:"average rate"`
	ReceivedGbps answer.Value `key:"received_gbps" name:"RECEIVED Gb/s" kind:"float" help:"average rate"`
	AtLeast      bool         `key:"at_least" help:"cleared, at the maximum, or not all read"`
	total        uint64
}

func amountsOf(sent, received flow) amounts {
	text := func(x flow) string {
		if !x.read {
			return "not read"
		}
		return prose.When(x.least, "at least ", "") + feature.BytesText(float64(x.bytes))
	}
	bytes := func(x flow) (n, gbps answer.Value) {
		if !x.read {
			return answer.NotRead(), answer.NotRead()
		}
		return answer.Int(int64(x.bytes)), answer.Float(x.perSecond*8/1e9, 2)
	}
	a := amounts{Sent: text(sent), Received: text(received), AtLeast: sent.least || received.least,
		total: sent.bytes + received.bytes}
	a.SentBytes, a.SentGbps = bytes(sent)
	a.GotBytes, a.ReceivedGbps = bytes(received)
	return a
}

// isListed reports whether there was traffic, or may have been.
func (a *amounts) isListed() bool { return a.total > 0 || a.AtLeast }

// topHost is a host with its traffic.
type topHost struct {
	Host    string `key:"host" name:"HOST" help:"the host of the adapters"`
	Ports   int    `key:"ports" name:"PORTS" help:"end ports"`
	amounts `prefix:""`
	Used    answer.Value `key:"used_percent" name:"USED %" kind:"float" help:"of the data rate, busier direction"`
	answer.Lead
}

// topLink is a link with its traffic in both directions.
type topLink struct {
	A       answer.Value `key:"a" name:"PORT" kind:"place" help:"the port that sends and receives"`
	B       answer.Value `key:"b" name:"PORT" kind:"place" help:"port at the other end"`
	amounts `prefix:""`
	Used    answer.Value `key:"used_percent" name:"USED %" kind:"float" help:"of the data rate, busier direction"`
	answer.Lead
}

// topJob is a job with the traffic of its hosts.
type topJob struct {
	Job     string       `key:"job" name:"JOB" help:"Slurm's ID, or the name of a set of hosts"`
	Name    answer.Value `key:"name" name:"NAME" kind:"text" help:"Slurm's name of the job"`
	User    answer.Value `key:"user" name:"USER" kind:"text"`
	Hosts   int          `key:"hosts" name:"HOSTS" help:"hosts that are in the subnet"`
	Missing int          `key:"not_in_subnet" help:"other hosts of the job"`
	From    time.Time    `key:"from" name:"FROM" help:"when it began in the period"`
	Until   time.Time    `key:"until" name:"UNTIL" help:"when it ended in the period"`
	amounts `prefix:""`
	answer.Lead
}

// top is the answer of counters top for one kind of rows.
type top[R any] struct {
	timeRecorded `prefix:""`
	rows         []R
}

func topDecl[R any](word, title string) answer.Decl[top[R]] {
	table := &answer.Table[R]{Key: word, Title: word, Stream: true, Fields: answer.Fields[R](),
		Empty: "no traffic was recorded"}
	return answer.Decl[top[R]]{
		Command: "counters top", Help: title, Facts: answer.Fields[top[R]](),
		Title: title + " in {of}",
		Layout: append([]answer.Item[top[R]]{
			{Table: answer.Show(table, func(t top[R]) answer.Rows[R] { return answer.Slice(t.rows) })},
		}, timeItems(func(t top[R]) timeRecorded { return t.timeRecorded })...),
	}
}

var (
	topHostsDecl = topDecl[topHost](topHosts, "hosts with most traffic")
	topLinksDecl = topDecl[topLink](topLinks, "links with most traffic")
	topJobsDecl  = topDecl[topJob](topJobs, "jobs with most traffic")
)

func runTop(c *feature.Call) error {
	since, until, err := c.Span("24h")
	if err != nil {
		return err
	}
	limit, err := c.AtLeast("limit", 20, 1)
	if err != nil {
		return err
	}
	st := c.Session.State()
	only, warnings, err := topOnly(c, &st, since, until)
	if err != nil {
		return err
	}
	got, err := c.Session.Recorded().Between(c.Ctx, topCounters, since, until)
	if err != nil {
		return err
	}
	b := st.Basis(st.Live, 0)
	b.Warnings = append(b.Warnings, warnings...)
	feature.NotRead(&b, st.Live.Fabric, "port record", "nothing was recorded", recorded.NotRead(st.Live.Fabric, &got))
	m := newMeasured(st.Live.Fabric, &got)
	switch c.Arg(0) {
	case topLinks:
		return answerTop(c, b, &topLinksDecl, &got, ranked(m.links(only), limit, func(x *topLink) *amounts {
			return &x.amounts
		}))
	case topJobs:
		rows, err := topJobsOf(c, &b, only, since, until)
		if err != nil {
			return err
		}
		return answerTop(c, b, &topJobsDecl, &got, ranked(rows, limit, func(x *topJob) *amounts { return &x.amounts }))
	}
	return answerTop(c, b, &topHostsDecl, &got, ranked(m.hosts(only), limit, func(x *topHost) *amounts {
		return &x.amounts
	}))
}

func answerTop[R any](c *feature.Call, b answer.Basis, d *answer.Decl[top[R]], got *records.Recorded, rows []R) error {
	return c.Answer(d.Answer(b, top[R]{describeTime(got, 0, len(rows)), rows}))
}

// ranked returns the rows with most traffic.
func ranked[R any](rows []R, limit int, of func(*R) *amounts) []R {
	rows = slices.DeleteFunc(rows, func(r R) bool { return !of(&r).isListed() })
	slices.SortStableFunc(rows, func(a, b R) int { return cmp.Compare(of(&b).total, of(&a).total) })
	return rows[:min(limit, len(rows))]
}

// topOnly returns the end ports of the option hosts, nil for all. The warnings name hosts that are not in the subnet.
func topOnly(c *feature.Call, st *session.State, since, until time.Time) (only map[fabric.PortIndex]bool,
	warnings []string, err error) {
	word := c.Option("hosts", "")
	if word == "" {
		return nil, nil, nil
	}
	run, err := c.Hosts(word, since, until)
	if err != nil {
		return nil, nil, err
	}
	finder := places.HostFinder{Fabric: st.Live.Fabric}
	var ends []fabric.PortIndex
	if run.IsSet {
		var missing int
		ends, missing, err = run.Ends(st.Live.Fabric, &finder)
		warnings = feature.NotInSubnet(word, missing)
	} else {
		ends, err = finder.Find(word)
	}
	only = map[fabric.PortIndex]bool{}
	for _, e := range ends {
		only[e] = true
	}
	return only, warnings, err
}

// used returns the utilization, in percent, of links with a data rate in bytes per second.
func used(sent, received flow, rate float64) answer.Value {
	if rate <= 0 || !sent.read && !received.read {
		return answer.NotRead()
	}
	return answer.Float(100*max(sent.perSecond, received.perSecond)/rate, 1)
}

func (m *measured) hosts(only map[fabric.PortIndex]bool) []topHost {
	type host struct {
		sent, received flow
		rate           float64
		ends           []fabric.PortIndex
	}
	of := map[string]*host{}
	var names []string
	for _, e := range m.f.EndPorts {
		n := &m.f.Nodes[m.f.Ports[e].Node]
		if n.IsSwitch() || only != nil && !only[e] {
			continue
		}
		name := places.HostName(n)
		h := of[name]
		sent, received := m.sent(e), m.received(e)
		if h == nil {
			h = &host{}
			of[name], names = h, append(names, name)
			h.sent, h.received = sent, received
		} else {
			h.sent, h.received = h.sent.plus(sent), h.received.plus(received)
		}
		h.rate += m.f.Ports[e].DataRate()
		h.ends = append(h.ends, e)
	}
	rows := make([]topHost, len(names))
	for i, name := range names {
		h := of[name]
		rows[i] = topHost{fabric.Escape(name), len(h.ends), amountsOf(h.sent, h.received),
			used(h.sent, h.received, h.rate), feature.ToPort(m.f, h.ends[0])}
	}
	return rows
}

func (m *measured) links(only map[fabric.PortIndex]bool) []topLink {
	var rows []topLink
	for _, l := range m.f.Links() {
		if only != nil && !only[l.A] && !only[l.B] {
			continue
		}
		sent, received := m.sent(l.A), m.received(l.A)
		rows = append(rows, topLink{answer.Port(m.f, l.A), answer.Port(m.f, l.B), amountsOf(sent, received),
			used(sent, received, m.f.Ports[l.A].DataRate()), feature.ToPort(m.f, l.A)})
	}
	return rows
}

// maxTopJobs is the number of jobs whose traffic is read. The record is read for each.
const maxTopJobs = 500

// topJobsOf returns the jobs of a period with their traffic. Without Slurm it returns the sets of hosts.
func topJobsOf(c *feature.Call, b *answer.Basis, only map[fabric.PortIndex]bool, since, until time.Time) ([]topJob,
	error) {
	st := c.Session.State()
	f := st.Live.Fabric
	all, err := joblinks.List(c.Ctx, c.Session, since, until)
	if err != nil {
		return nil, err
	}
	if _, warning := all.Source(); warning != "" {
		b.Warnings = append(b.Warnings, warning)
	}
	var rows []topJob
	var endsOf [][]fabric.PortIndex
	add := func(x topJob, ends []fabric.PortIndex) {
		x.Hosts = len(ends)
		if x.Hosts > 0 && (only == nil || slices.ContainsFunc(ends, func(e fabric.PortIndex) bool { return only[e] })) {
			rows, endsOf = append(rows, x), append(endsOf, ends)
		}
	}
	finder := places.HostFinder{Fabric: f}
	for _, j := range all.Runs {
		x := topJob{Job: j.ID, Name: answer.Optional(fabric.Escape(j.Name)),
			User: answer.Optional(fabric.Escape(j.User)), From: j.From, Until: j.Until,
			Lead: answer.Lead{Command: "job " + j.ID}}
		if j.IsSet {
			x.Lead.Command = "hosts " + j.ID
		}
		if x.From.Before(since) {
			x.From = since
		}
		if x.Until.IsZero() || x.Until.After(until) {
			x.Until = until
		}
		ends, missing, err := j.Ends(f, &finder)
		if err != nil {
			return nil, err
		}
		x.Missing = missing
		add(x, ends)
	}
	if more := len(rows) - maxTopJobs; more > 0 {
		b.Unread.Note("job", "the period has too many jobs; hint: shorten it with since= and until=", more,
			answer.Place{})
		rows = rows[:maxTopJobs]
	}
	return rows, addTraffic(c, b, f, rows, endsOf)
}

// addTraffic adds the traffic of jobs while they ran. It reads the record once for each time.
func addTraffic(c *feature.Call, b *answer.Basis, f *fabric.Fabric, rows []topJob,
	endsOf [][]fabric.PortIndex) error {
	type period struct{ from, until int64 }
	known := map[period]*measured{}
	for i := range rows {
		x := &rows[i]
		at := period{x.From.UnixNano(), x.Until.UnixNano()}
		m := known[at]
		if m == nil {
			got, err := c.Session.Recorded().Between(c.Ctx, topCounters, x.From, x.Until)
			if err != nil && !errors.Is(err, recorded.ErrNone) {
				return err
			}
			m = newMeasured(f, &got)
			known[at] = m
		}
		var sent, received flow
		for n, e := range endsOf[i] {
			if s, r := m.sent(e), m.received(e); n == 0 {
				sent, received = s, r
			} else {
				sent, received = sent.plus(s), received.plus(r)
			}
		}
		if x.amounts = amountsOf(sent, received); !sent.read {
			b.Unread.Note("job", "nothing was recorded while it ran", 1, answer.Place{Name: x.Job})
			continue
		}
		x.AtLeast = x.AtLeast || x.Missing > 0
	}
	return nil
}
