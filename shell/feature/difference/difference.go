// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/comparison"
)

// difference is the difference between two states.
type difference struct {
	Old         string            `key:"old" help:"the state before"`
	New         string            `key:"new" help:"the state after"`
	Compared    []string          `key:"compared" help:"what was compared"`
	NotCompared []string          `key:"not_compared" help:"what was not compared"`
	Entries     entryCounts       `prefix:"entries_"`
	Pairs       pairCounts        `prefix:"pairs_"`
	Gone        int               `key:"ends_gone" help:"end ports that only the state before has"`
	Come        int               `key:"ends_come" help:"end ports that only the state after has"`
	Moved       int               `key:"lids_moved" help:"end ports with another base LID"`
	Down        int               `key:"links_down" help:"links that only the state before has"`
	Up          int               `key:"links_up" help:"links that only the state after has"`
	Loads       int               `key:"loads_changed" help:"directions of links with other paths or entries"`
	WorstOld    *load             `prefix:"worst_old_"` // nil if no path takes a link between switches
	WorstNew    *load             `prefix:"worst_new_"`
	Multicast   *multicastCounts  `prefix:"multicast_"` // nil if a state has no multicast tables
	SL2VL       answer.Value      `key:"vls_sl2vl_tables" kind:"int" help:"SL2VL tables that differ"`
	SL2VLText   answer.Value      `name:"SL2VL tables" kind:"text"`
	SLs         answer.Value      `key:"vls_path_sls" kind:"int" help:"service levels of paths that differ"`
	SLsText     answer.Value      `name:"path SLs" kind:"text"`
	Adaptive    *adaptiveCounts   `prefix:"adaptive_"` // nil if no switch routes adaptively
	Failover    *feature.Failover `prefix:"before_manager_"`

	before, after *session.Picture
	basis         answer.Basis
	result        *diff.Result
	adaptive      *diff.Adaptive
}

// entryCounts count entries of forwarding tables that change.
type entryCounts struct {
	Changed  int `key:"changed"`
	Blocks   int `key:"blocks" help:"blocks of 64 LIDs with changed entries"`
	Switches int `key:"switches" help:"switches with changed entries"`
	Unread   int `key:"unread" help:"switches of both states with an unread forwarding table"`
}

// pairCounts count ordered pairs of end ports.
type pairCounts struct {
	Total        int64 `key:"total"`
	Same         int64 `key:"same" help:"delivered in both states over the same links"`
	Changed      int64 `key:"changed" help:"delivered in both states over other links"`
	CutOff       int64 `key:"cut_off" help:"delivered in the state before alone"`
	Connected    int64 `key:"connected" help:"delivered in the state after alone"`
	Unreached    int64 `key:"unreached" help:"delivered in neither state"`
	ByLuck       int64 `key:"by_luck" help:"delivered in the state after by some adaptive choices only"`
	ByLuckBefore int64 `key:"by_luck_before" help:"those of these pairs that were so in the earlier state, too"`
	Unknown      int64 `key:"unknown" help:"pairs over switches whose forwarding tables were not read"`
}

// multicastCounts count entries of multicast tables that change.
type multicastCounts struct {
	Changed  int `key:"changed" help:"entries that change, each the ports of a switch for a multicast LID"`
	Switches int `key:"switches"`
	LIDs     int `key:"lids"`
	Gone     int `key:"ports_gone" help:"ports that entries lose"`
	Come     int `key:"ports_come" help:"ports that entries get"`
	Unread   int `key:"unread" help:"switches of both states with an unread multicast table"`
}

// adaptiveCounts counts the differences of adaptive routing.
type adaptiveCounts struct {
	LIDs     int `key:"lids" help:"LIDs whose packets may take other ports of a switch"`
	Switches int `key:"switches" help:"switches with such LIDs or other settings"`
}

// compareAll returns the difference between two states, including VLs, service levels and adaptive routing.
func compareAll(st *session.State, x *comparison.Difference) *difference {
	r := x.Result
	d := &difference{
		Old: r.Old, New: r.New, before: x.Before, after: x.After, result: r,
		Compared: []string{"links", "end ports", "LIDs", "forwarding tables", "paths"},
		NotCompared: []string{"node names", "link widths and speeds", "counters", "cables", "temperatures",
			"error correction"},
		Entries: entryCounts{r.Entries.Changed, r.Entries.Blocks, r.Entries.Switches, r.Entries.Unread},
		Pairs: pairCounts{
			r.Pairs.Total, r.Pairs.Same, r.Pairs.Changed, r.Pairs.Lost, r.Pairs.Connected, r.Pairs.Unreached,
			r.Pairs.ByLuck, r.Pairs.ByLuckBefore, r.Pairs.Unknown,
		},
		Gone: len(r.Gone), Come: len(r.Come), Moved: len(r.Moved), Down: len(r.Down), Up: len(r.Up),
		Loads: len(r.Loads),
	}
	d.WorstOld, d.WorstNew = d.worst(r.WorstOld), d.worst(r.WorstNew)
	if m := r.Multicast; m != nil {
		d.Multicast = &multicastCounts{m.Changed, m.Switches, m.LIDs, m.PortsGone, m.PortsCome, m.Unread}
	}
	d.levels()
	if d.adaptive = diff.AdaptiveBetween(x.Before.Tables, x.After.Tables); d.adaptive != nil {
		d.Adaptive = &adaptiveCounts{d.adaptive.LIDs, len(d.adaptive.Switches)}
	}
	d.basis = d.basisOf(st)
	d.alsoCompared("multicast tables", r.Multicast != nil)
	d.alsoCompared("SL2VL tables", d.SL2VL.Kind() == answer.KindInt)
	d.alsoCompared("service levels of paths", d.SLs.Kind() == answer.KindInt)
	d.alsoCompared("adaptive routing", d.adaptive != nil)
	return d
}

// alsoCompared adds a kind of data to the list of compared data, or to the list of data that was not compared. It is
// for data that not every state has.
func (d *difference) alsoCompared(what string, was bool) {
	list := prose.When(was, &d.Compared, &d.NotCompared)
	*list = append(*list, what)
}

// withNames moves node names, widths and speeds to the list of compared data.
func (d *difference) withNames() {
	d.Compared = slices.Insert(d.Compared, 5, d.NotCompared[:2]...)
	d.NotCompared = d.NotCompared[2:]
}

// levels compares the SL2VL tables and the service levels of paths. The results are None if neither state has this
// data, and NotRead if only one state has it.
func (d *difference) levels() {
	before, after := d.before.Tables, d.after.Tables
	if before.SL2VL == nil && after.SL2VL == nil && before.SLs == nil && after.SLs == nil {
		return
	}
	unknown := answer.Text("not compared: known of one state only")
	d.SL2VL, d.SL2VLText, d.SLs, d.SLsText = answer.NotRead(), unknown, answer.NotRead(), unknown
	if before.SL2VL != nil && after.SL2VL != nil {
		n := 0
		for m := range diff.Mappings(before, after) {
			if m.Changed() {
				n++
			}
		}
		d.SL2VL, d.SL2VLText = answer.Int(n), answer.Text(fmt.Sprint(n))
	}
	if n, known := diff.PathSLs(before, after); known {
		d.SLs, d.SLsText = answer.Int(n), answer.Text(fmt.Sprint(n))
	}
}

// The method same reports whether no difference was found.
func (d *difference) same() bool {
	return d.result.Same() && d.adaptive.Same() && d.SL2VL.Int() == 0 && d.SLs.Int() == 0
}

// verdict returns Unknown if tables were not read and nothing else differs.
func (d *difference) verdict() (answer.Verdict, string) {
	switch {
	case !d.same():
		return answer.Found, d.Old + " and " + d.New + " differ"
	case d.result.Verdict() == answer.Unknown || d.basis.Unread.Count > 0:
		return answer.Unknown, "not all was read: whether " + d.Old + " and " + d.New + " differ is unknown"
	}
	return answer.OK, ""
}

// basisOf returns the basis of the comparison. It has the state after, and the unread tables of both states.
func (d *difference) basisOf(st *session.State) answer.Basis {
	b := st.Basis(d.after, session.NeedLinks)
	for i, p := range []*session.Picture{d.before, d.after} {
		if i == 1 && p == d.before {
			break
		}
		u := st.Basis(p, session.NeedTables).Unread
		for i := range u.Causes {
			u.Causes[i].Why = st.Title(p)
		}
		b.Unread = b.Unread.Add(u)
	}
	return b
}

// The method shown reports whether text shows the counts. It omits them if the states do not differ.
func (d *difference) shown() bool {
	v, _ := d.verdict()
	return v != answer.OK
}

// The numbers of rows in text.
const (
	maxRows  = 10
	maxLoads = 5
)

// layout builds the layout of an answer that contains a difference. The facts of the difference have a prefix.
type layout[T any] struct {
	prefix string
	of     func(T) *difference
	shown  func(T) bool // whether text has the figures
	items  []answer.Item[T]
}

// line adds a line that text shows if the function fits accepts the difference. If the function fits is nil, text
// always shows the line.
func (l *layout[T]) line(form string, fits func(*difference) bool) {
	when := l.shown
	if fits != nil {
		when = func(v T) bool { return l.shown(v) && fits(l.of(v)) }
	}
	l.items = append(l.items, answer.Item[T]{Line: answer.Prefixed(l.prefix, form), When: when})
}

// table adds a table. Text omits the table if the argument hidden is true.
func (l *layout[T]) table(table answer.Listed[T], hidden bool) {
	when := l.shown
	if hidden {
		when = answer.Hidden[T]
	}
	l.items = append(l.items, answer.Item[T]{Table: table, When: when})
}

// items returns the layout of an answer that contains a difference.
func items[T any](prefix string, of func(T) *difference, shown func(T) bool) []answer.Item[T] {
	l := &layout[T]{prefix: prefix, of: of, shown: shown}
	l.line("pairs lost                {pairs_cut_off}", nil)
	l.table(answer.Show(&lostTable, rowsOf(of, (*difference).lost)), false)
	l.line("pairs reached by luck     {pairs_by_luck}, by some choices of adaptive routing; before "+
		"{pairs_by_luck_before} of them",
		func(d *difference) bool { return d.Pairs.ByLuck > 0 })
	l.table(answer.Show(&luckTable, rowsOf(of, (*difference).luck)), false)
	l.line("[pairs newly connected     {pairs_connected}]", nil)
	l.table(answer.Show(&connectedTable, rowsOf(of, (*difference).connected)), false)
	l.line("pairs with another path   {pairs_changed} of {pairs_total}", nil)
	l.table(answer.Show(&changedTable, rowsOf(of, (*difference).changed)), true)
	l.line("[pairs lost as before      {pairs_unreached}]", nil)
	l.line("[pairs not known           {pairs_unknown}, over switches whose tables were not read]", nil)
	l.line("LFT entries               {entries_changed} on {entries_switches} switches, {entries_blocks} blocks"+
		"[; {entries_unread|switch} not compared, as a table was not read]", nil)
	l.table(answer.Show(&switchTable, rowsOf(of, (*difference).switches)), true)
	l.line("[multicast tables          {multicast_unread|switch} not compared, as a table was not read]", nil)
	l.line("[multicast entries         {multicast_changed} on {multicast_switches} switches, of "+
		"{multicast_lids} LIDs]", nil)
	l.table(answer.Show(&groupTable, rowsOf(of, (*difference).groups)), false)
	l.topology()
	l.line("[links whose load changes  {loads_changed}]", nil)
	l.table(answer.Show(&loadTable, rowsOf(of, (*difference).loads)), false)
	l.line("{?worst_old_from}{?worst_new_from}most paths on a link      {worst_new_paths_new}, was "+
		"{worst_old_paths_old}   {worst_new_from} -> {worst_new_to}", nil)
	l.line("{?SL2VL tables}SL2VL tables              {SL2VL tables}", nil)
	l.line("{?path SLs}path SLs                  {path SLs}", nil)
	l.line("adaptive routing          {adaptive_lids|LID entry}, on {adaptive_switches|switch}",
		func(d *difference) bool { return !d.adaptive.Same() })
	l.table(answer.Show(&adaptiveTable, rowsOf(of, (*difference).adaptiveSwitches)), false)
	for _, item := range feature.FailoverItems(prefix+"before_manager_", l.failover) {
		if item.Table == nil {
			item.When = shown
		}
		l.items = append(l.items, item)
	}
	return l.items
}

// topology adds the end ports and links that only one of the two states has.
func (l *layout[T]) topology() {
	l.line("[end ports gone            {ends_gone}]", nil)
	l.table(answer.Show(&goneTable, rowsOf(l.of, (*difference).gone)), false)
	l.line("[end ports come            {ends_come}]", nil)
	l.table(answer.Show(&comeTable, rowsOf(l.of, (*difference).come)), false)
	l.line("[LIDs moved                {lids_moved}]", nil)
	l.table(answer.Show(&movedTable, rowsOf(l.of, (*difference).moved)), true)
	l.line("[links down                {links_down}]", nil)
	l.table(answer.Show(&downTable, rowsOf(l.of, (*difference).down)), false)
	l.line("[links up                  {links_up}]", nil)
	l.table(answer.Show(&upTable, rowsOf(l.of, (*difference).up)), false)
}

func (l *layout[T]) failover(v T) *feature.Failover {
	if d := l.of(v); d != nil {
		return d.Failover
	}
	return nil
}

// rowsOf returns a function that returns the rows of a table of the difference. Without a difference there are no rows.
func rowsOf[T, R any](of func(T) *difference, rows func(*difference) answer.Rows[R]) func(T) answer.Rows[R] {
	return func(v T) answer.Rows[R] {
		if d := of(v); d != nil {
			return rows(d)
		}
		return answer.Slice[R](nil)
	}
}

// pair is a pair of end ports. Its lead is the path of the pair in one of the states.
type pair struct {
	From       answer.Value `key:"src" name:"FROM" kind:"place"`
	FromLID    uint16       `key:"src_lid" name:"LID"`
	To         answer.Value `key:"dst" name:"TO" kind:"place"`
	ToLID      uint16       `key:"dst_lid" name:"LID"`
	FromSwitch answer.Value `key:"src_switch" name:"SWITCH" kind:"place" help:"switch port that it is attached to"`
	ToSwitch   answer.Value `key:"dst_switch" name:"SWITCH" kind:"place"`
	answer.Lead
}

func pairTable(key, title string) answer.Table[pair] {
	return answer.Table[pair]{
		Key: key, Title: title, Help: "the first pairs of the kind", Stream: true, MaxRows: maxRows,
		Fields: answer.Fields[pair](),
		Row:    "  {src} (LID {src_lid|#}) -> {dst} (LID {dst_lid|#})",
	}
}

// pairRows returns the rows of the listed pairs of one kind. The argument all is their total number. The state p has a
// path for each of these pairs.
func pairRows(list []diff.Pair, all int64, p *session.Picture) answer.Rows[pair] {
	f := p.Fabric
	rows := answer.Lazy(len(list), func(i int) pair {
		x := &list[i]
		src, dst := f.PortByGUID(uint64(x.Src.GUID)), f.PortByGUID(uint64(x.Dst.GUID))
		return pair{
			answer.Port(f, src), x.Src.LID, answer.Port(f, dst), x.Dst.LID, feature.Attachment(f, src),
			feature.Attachment(f, dst), feature.ToTrace(p, src, dst, x.Dst.LID),
		}
	})
	rows.More = all - int64(len(list))
	return rows
}

var (
	lostTable      = pairTable("cut_off", "pairs lost")
	luckTable      = pairTable("by_luck", "pairs reached by luck")
	connectedTable = pairTable("connected", "pairs newly connected")
	changedTable   = pairTable("changed", "pairs with another path")
)

func (d *difference) lost() answer.Rows[pair] {
	return pairRows(d.result.Lost, d.result.Pairs.Lost, d.before)
}

func (d *difference) luck() answer.Rows[pair] {
	return pairRows(d.result.ByLuck, d.result.Pairs.ByLuck, d.after)
}

func (d *difference) connected() answer.Rows[pair] {
	return pairRows(d.result.Connected, d.result.Pairs.Connected, d.after)
}

func (d *difference) changed() answer.Rows[pair] {
	return pairRows(d.result.Changed, d.result.Pairs.Changed, d.after)
}

// changedSwitch is a switch with entries that differ.
type changedSwitch struct {
	Switch  answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	Changed int          `key:"changed" name:"ENTRIES" help:"entries that change, for LIDs from 1 up to LinearFDBTop"`
	Blocks  int          `key:"blocks" name:"BLOCKS" help:"blocks of 64 LIDs with changed entries"`
	TopOld  uint16       `key:"top_old" name:"TOP WAS" help:"LinearFDBTop before"`
	TopNew  uint16       `key:"top_new" name:"TOP IS" help:"LinearFDBTop after"`
	answer.Lead
}

var switchTable = answer.Table[changedSwitch]{
	Key: "switches", Title: "LFT entries", Help: "switches with changed entries of forwarding tables", Stream: true,
	Fields: answer.Fields[changedSwitch](),
}

func (d *difference) switches() answer.Rows[changedSwitch] {
	return answer.Lazy(len(d.result.Switches), func(i int) changedSwitch {
		s := &d.result.Switches[i]
		return changedSwitch{d.node(s.GUID), s.Changed, s.Blocks, s.TopOld, s.TopNew, answer.Lead{GUID: uint64(s.GUID)}}
	})
}

// node returns a node of either state.
func (d *difference) node(guid diff.GUID) answer.Value { return answer.Node(d.find(guid)) }

// find returns a node of the state after, or else of the state before. It is None if neither has it.
func (d *difference) find(guid diff.GUID) (*fabric.Fabric, fabric.NodeIndex) {
	for _, p := range []*session.Picture{d.after, d.before} {
		if n := p.Fabric.NodeByGUID(uint64(guid)); n != fabric.None {
			return p.Fabric, n
		}
	}
	return d.after.Fabric, fabric.None
}

// end returns an end of a link, which may exist in only one of the states.
func (d *difference) end(e diff.End) answer.Value {
	for _, p := range []*session.Picture{d.after, d.before} {
		f := p.Fabric
		if n := f.NodeByGUID(uint64(e.GUID)); n != fabric.None {
			return answer.Port(f, f.PortAt(n, int(e.Num)))
		}
	}
	return answer.None()
}

// groupEntry is an entry of a multicast table that differs.
type groupEntry struct {
	Switch answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	MLID   string       `key:"mlid" name:"MLID"`
	Gone   answer.Value `key:"ports_gone" kind:"list" help:"ports that it loses"`
	Come   answer.Value `key:"ports_come" kind:"list" help:"ports that it gets"`
	Lost   answer.Value `name:"PORTS GONE" kind:"text"`
	Got    answer.Value `name:"PORTS COME" kind:"text"`
	answer.Lead
}

func groupEntryOf(f *fabric.Fabric, node fabric.NodeIndex, mlid uint16, gone, come []int, lead answer.Lead) groupEntry {
	return groupEntry{answer.Node(f, node), feature.MLIDText(mlid), answer.Ints(gone), answer.Ints(come),
		portsText(f, node, gone), portsText(f, node, come), lead}
}

// portsText returns port numbers with their labels as text, such as "1, 3 (1/2/1)", or None if there are none.
func portsText(f *fabric.Fabric, node fabric.NodeIndex, ports []int) answer.Value {
	return answer.Optional(strings.Join(prose.Words(ports, func(num int) string {
		return answer.NumberAt(f, node, uint8(num)).String()
	}), ", "))
}

var groupTable = answer.Table[groupEntry]{
	Key: "multicast_entries", Title: "multicast entries", Help: "the first of the entries that change", Stream: true,
	MaxRows: maxRows,
	Fields:  answer.Fields[groupEntry](), Row: "  {mlid} at {switch}:[ without port {PORTS GONE}][ with port " +
		"{PORTS COME}]",
}

func (d *difference) groups() answer.Rows[groupEntry] {
	m := d.result.Multicast
	if m == nil {
		return answer.Slice[groupEntry](nil)
	}
	rows := answer.Lazy(len(m.Examples), func(i int) groupEntry {
		e := &m.Examples[i]
		f, node := d.find(e.GUID)
		return groupEntryOf(f, node, e.MLID, e.Gone, e.Come, answer.Lead{GUID: uint64(e.GUID)})
	})
	rows.More = int64(m.Changed - len(m.Examples))
	return rows
}

// end is an end port that only one of the two states has.
type end struct {
	Port        answer.Value `key:"port" name:"PORT" kind:"place"`
	LID         uint16       `key:"lid" name:"LID"`
	Switch      answer.Value `key:"switch" name:"SWITCH" kind:"place" help:"switch port that it is attached to"`
	Unreachable bool         `key:"unreachable" help:"unreachable because of failures"`
	How         answer.Value `name:"NOW" kind:"text" help:"unreachable because of failures"`
	answer.Lead
}

func endTable(key, title string) answer.Table[end] {
	return answer.Table[end]{
		Key: key, Title: title, Stream: true, MaxRows: maxRows, Fields: answer.Fields[end](),
		Row: "  {port} (LID {lid|#})[, {NOW}]",
	}
}

func ends(list []diff.Port, p *session.Picture) answer.Rows[end] {
	return answer.Lazy(len(list), func(i int) end {
		x := &list[i]
		port := p.Fabric.PortByGUID(uint64(x.GUID))
		e := end{Port: answer.Port(p.Fabric, port), LID: x.LID, Switch: feature.Attachment(p.Fabric, port),
			Unreachable: x.Unreachable, Lead: feature.ToPort(p.Fabric, port)}
		if x.Unreachable {
			e.How = answer.Text("unreachable")
		}
		return e
	})
}

var (
	goneTable = endTable("gone", "end ports gone")
	comeTable = endTable("come", "end ports come")
)

func (d *difference) gone() answer.Rows[end] { return ends(d.result.Gone, d.before) }
func (d *difference) come() answer.Rows[end] { return ends(d.result.Come, d.after) }

// movedEnd is an end port whose base LID differs.
type movedEnd struct {
	Port   answer.Value `key:"port" name:"PORT" kind:"place"`
	LID    uint16       `key:"lid" name:"LID WAS"`
	NewLID uint16       `key:"new_lid" name:"LID IS"`
	answer.Lead
}

var movedTable = answer.Table[movedEnd]{
	Key: "moved", Title: "LIDs moved", Stream: true, Fields: answer.Fields[movedEnd](),
}

func (d *difference) moved() answer.Rows[movedEnd] {
	f := d.after.Fabric
	return answer.Lazy(len(d.result.Moved), func(i int) movedEnd {
		m := &d.result.Moved[i]
		port := f.PortByGUID(uint64(m.GUID))
		return movedEnd{answer.Port(f, port), m.LID, m.NewLID, feature.ToPort(f, port)}
	})
}

// link is a link that only one of the two states has.
type link struct {
	A answer.Value `key:"a" name:"PORT" kind:"place"`
	B answer.Value `key:"b" name:"PORT" kind:"place"`
	answer.Lead
}

func makeLinkTable(key, title string) answer.Table[link] {
	return answer.Table[link]{
		Key: key, Title: title, Stream: true, MaxRows: maxRows, Fields: answer.Fields[link](), Row: "  {a} -- {b}",
	}
}

var (
	downTable = makeLinkTable("down", "links down")
	upTable   = makeLinkTable("up", "links up")
)

func (d *difference) down() answer.Rows[link] { return d.links(d.result.Down) }
func (d *difference) up() answer.Rows[link]   { return d.links(d.result.Up) }

func (d *difference) links(list []diff.Link) answer.Rows[link] {
	return answer.Lazy(len(list), func(i int) link {
		l := &list[i]
		return link{d.end(l.A), d.end(l.B), answer.Lead{GUID: uint64(l.A.GUID), Port: l.A.Num}}
	})
}

// load is a direction of a link with its number of paths.
type load struct {
	From       answer.Value `key:"from" name:"FROM" kind:"place"`
	To         answer.Value `key:"to" name:"TO" kind:"place" help:"other end of the link"`
	PathsOld   int64        `key:"paths_old" name:"PATHS BEFORE" help:"delivered paths before, one per LID"`
	PathsNew   int64        `key:"paths_new" name:"PATHS" help:"delivered paths after, one per LID"`
	Change     int64        `key:"change" name:"CHANGE"`
	EntriesOld int          `key:"entries_old" name:"ENTRIES WAS" help:"LIDs that were sent over it"`
	EntriesNew int          `key:"entries_new" name:"ENTRIES" help:"LIDs that are sent over it"`
	answer.Lead
}

var loadTable = answer.Table[load]{
	Key: "loads", Title: "links whose load changes", Help: "links with other paths or entries, links that " +
		"gain paths first", Stream: true, MaxRows: maxLoads,
	Fields: answer.Fields[load](),
	Row:    "  {from}[ -> {to}]: paths {paths_new}, was {paths_old}; entries {entries_new}, was {entries_old}",
}

func (d *difference) load(l *diff.Load) load {
	to := answer.None()
	if l.To != nil {
		to = d.end(*l.To)
	}
	return load{
		d.end(l.From), to, l.PathsOld, l.PathsNew, l.PathsNew - l.PathsOld, l.EntriesOld, l.EntriesNew,
		answer.Lead{GUID: uint64(l.From.GUID), Port: l.From.Num},
	}
}

// worst returns the load of the link with the most paths, or nil if no link has a path.
func (d *difference) worst(l *diff.Load) *load {
	if l == nil {
		return nil
	}
	worst := d.load(l)
	return &worst
}

func (d *difference) loads() answer.Rows[load] {
	return answer.Lazy(len(d.result.Loads), func(i int) load { return d.load(&d.result.Loads[i]) })
}

// adaptiveSwitch is a switch whose adaptive routing differs.
type adaptiveSwitch struct {
	Switch   answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	LIDs     int          `key:"lids" name:"LIDS" help:"LIDs whose packets may take other ports"`
	Settings []string     `key:"settings"`
	Text     answer.Value `name:"SETTINGS" kind:"text" help:"settings that differ"`
	answer.Lead
}

var adaptiveTable = answer.Table[adaptiveSwitch]{
	Key: "adaptive_routing", Title: "adaptive routing", Help: "switches whose adaptive routing differs", Stream: true,
	MaxRows: 20,
	Fields:  answer.Fields[adaptiveSwitch](), Row: "  {switch}: {lids|LID entry}[; {SETTINGS}]",
}

func (d *difference) adaptiveSwitches() answer.Rows[adaptiveSwitch] {
	if d.adaptive == nil {
		return answer.Slice[adaptiveSwitch](nil)
	}
	return answer.Lazy(len(d.adaptive.Switches), func(i int) adaptiveSwitch {
		s := &d.adaptive.Switches[i]
		return adaptiveSwitch{d.node(s.GUID), s.LIDs, s.Settings, answer.Optional(strings.Join(s.Settings, ", ")),
			answer.Lead{GUID: uint64(s.GUID)}}
	})
}
