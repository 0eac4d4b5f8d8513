// SPDX-License-Identifier: Apache-2.0

// Package settings reads routing engines and their options. They are given as words, or in an opensm.conf and the files
// that it names.
package settings

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/osm/qospolicy"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/adaptive"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/file"
	"example.org/ibconsole/routing/engines/lash"
	"example.org/ibconsole/routing/engines/torus"
)

// Settings holds the engines and options that affect routes or LIDs. They have the meaning that they have in
// opensm.conf.
type Settings struct {
	Chain []string  // the names of engines, tried in order, and [engines.NoFallback]
	Given []Setting // the options that were set, as they were written
	Notes []string  // how OpenSM treats the contents of the files, one sentence each

	conf       string // the opensm.conf that they were read from, "" for none
	asked      asked  // the chain and options that were given in addition
	engines    []routing.Engine
	routing    routing.Options
	cached     bool // route with OpenSM's unicast cache
	lids       compute.LIDs
	guids      []guidUse
	file       file.Engine
	torus      torus.Engine
	partitions *osm.PartitionFile // those of a file, nil for none
	policy     *qospolicy.Policy  // nil for none

	groups    map[string]GroupKind // the kinds of groups of the tables, by engine of the chain
	how       *adaptive.How        // how switches use them, nil for always
	groupsOff bool
}

// asked is a chain and options.
type asked struct {
	chain []string
	given []Setting
}

// Asked returns the opensm.conf from which the settings were read, or "", and the chain and options that were given in
// addition.
func (s *Settings) Asked() (conf string, chain []string, given []Setting) {
	if s.conf == "" {
		return "", s.Chain, s.Given
	}
	return s.conf, s.asked.chain, s.asked.given
}

// Setting is an option with its value.
type Setting struct{ Name, Value string }

// Conf returns the value in the form of opensm.conf. OpenSM treats every value except TRUE as off.
func (s Setting) Conf() string {
	i := slices.IndexFunc(Options, func(o Option) bool { return o.Name == s.Name })
	if i < 0 || !Options[i].boolean {
		return s.Value
	}
	on := false
	_ = boolean(func(*Settings) *bool { return &on })(nil, s.Value) // it was read before
	return strings.ToUpper(strconv.FormatBool(on))
}

// Option is an option that [Parse] knows.
type Option struct {
	Name    string
	Was     string // its previous name, which is still accepted; "" for none
	Summary string
	File    bool // the value is the name of a file
	boolean bool
	set     func(*Settings, string) error
	// read reads the file that the value names. It is nil if the value is not a file.
	read func(ctx context.Context, s *Settings, path string) error
	// without handles a missing file that an opensm.conf names. It is nil if OpenSM ignores a missing file.
	without func(s *Settings, path string)
}

// take sets the option and reads its file.
func (o *Option) take(ctx context.Context, s *Settings, value string) error {
	if o.read != nil {
		return o.read(ctx, s, value)
	}
	return o.set(s, value)
}

// Boolean reports whether the values of the option are TRUE and FALSE, which may also be written yes and no.
func (o *Option) Boolean() bool { return o.boolean }

// Options are all options, with the names that OpenSM uses. guid2lid, which is not an option of OpenSM, has the name of
// a file in OpenSM's cache directory.
var Options = []Option{
	{Name: "lmc", Summary: "a port has 2^LMC LIDs; 0 to 7 (default: as in the subnet)",
		set: number(" is no LMC", 0, fabric.MaxLMC, func(s *Settings, n uint64) {
			s.lids.LMC, s.lids.Chosen = uint8(n), true
		})},
	boolOption("lmc_esp0", "give enhanced switch ports 0 as many LIDs as other ports", func(s *Settings) *bool {
		return &s.lids.LMCESP0
	}),
	boolOption("reassign_lids", "assign all LIDs again", func(s *Settings) *bool { return &s.lids.Reassign }),
	boolOption("honor_guid2lid_file", "use guid2lid also when a standby SM becomes master", func(s *Settings) *bool {
		return &s.lids.Honor
	}),
	{Name: "guid2lid", Summary: "file of the LIDs that OpenSM assigned to port GUIDs", File: true, read: setGUID2LID},
	guidFileOrBroken(osm.RootGUIDs, "node GUIDs of the roots, for updn and ftree", takeRoots),
	guidFileOrBroken(osm.ComputeNodes, "port GUIDs of the compute nodes, for ftree, sssp and dfsssp (default: "+
		"all adapters)", takeComputeNodes),
	guidFileOrBroken(osm.IONodes, "port GUIDs of the I/O nodes, for ftree, sssp and dfsssp", takeIONodes),
	{Name: "max_reverse_hops", Summary: "most hops in the reverse direction of an ftree path to an I/O node",
		set: number("", 0, 1<<16-1, func(s *Settings, n uint64) { s.routing.MaxReverseHops = uint16(n) })},
	boolOption("quasi_ftree_indexing", "let ftree number the switches from the roots down", func(s *Settings) *bool {
		return &s.routing.QuasiFtreeIndexing
	}),
	{Name: "bull", Summary: "no: ftree without both of Bull's changes (bull_min_hop, bull_secondary); OpenSM " +
		"has no such option", boolean: true,
		set: invertedSetter(func(s *Settings, without bool) {
			s.routing.NoBullMinHop, s.routing.NoBullSecondary = without, without
		})},
	{Name: "bull_min_hop", Summary: "no: ftree without the first of Bull's changes, which replaces paths by " +
		"shorter paths",
		boolean: true,
		set:     invertedSetter(func(s *Settings, without bool) { s.routing.NoBullMinHop = without })},
	{Name: "bull_secondary", Summary: "no: ftree without the second of Bull's changes, which chooses ports of " +
		"secondary paths by load", boolean: true,
		set: invertedSetter(func(s *Settings, without bool) { s.routing.NoBullSecondary = without })},
	guidFile(osm.SwitchIDs, "node GUIDs with numbers that order switches of the same rank, for updn", takeIDs),
	boolOption("connect_roots", "let updn, dnup and ftree connect roots", func(s *Settings) *bool {
		return &s.routing.ConnectRoots
	}),
	guidFile(osm.RoutingOrder, "port GUIDs that are routed first", takeOrder),
	boolOption("guid_routing_order_no_scatter", "keep guid_routing_order_file out of scatter_ports",
		func(s *Settings) *bool {
			return &s.routing.RoutingOrderNoScatter
		}),
	guidFile(osm.IgnoredPorts, "switch ports whose routes are not counted", takeIgnored),
	boolOption("port_profile_switch_nodes", "count routes to switches", func(s *Settings) *bool {
		return &s.routing.ProfileSwitchNodes
	}),
	boolOption("port_shifting", "begin the choice among equal ports at a different port each time",
		func(s *Settings) *bool {
			return &s.routing.PortShifting
		}),
	{Name: "scatter_ports", Summary: "seed for a random choice among equal ports; 0: no random choice",
		set: number(" is no seed", 0, 1<<32-1, func(s *Settings, n uint64) { s.routing.ScatterPorts = uint32(n) })},
	{Name: "max_op_vls", Summary: "most data VLs of a link, for lash, dfsssp and nue; the values 1 to 5 mean " +
		"1, 2, 4, 8 and 15 VLs",
		set: number("", 1, 255, func(s *Settings, n uint64) { s.routing.MaxOpVLs = uint8(n) })},
	{Name: "lash_start_vl", Summary: "the first service level that lash uses",
		set: number("", 0, 255, func(s *Settings, n uint64) { s.routing.LASHStartVL = uint8(n) })},
	boolOption("do_mesh_analysis", "if lash finds a mesh, order switches as in a mesh",
		func(s *Settings) *bool { return &s.routing.MeshAnalysis }),
	{Name: "nue_max_num_vls", Summary: "most VLs over which nue spreads destinations; 0: all VLs of the subnet",
		set: number("", 0, 255, takeNueVLs)},
	boolOption("nue_include_switches", "let nue keep paths to switches free of deadlock, too", func(s *Settings) *bool {
		return &s.routing.NueIncludeSwitches
	}),
	guidFile(osm.HopWeights, "hop weights of switch ports, by which path lengths are counted", takeWeights),
	guidFile(osm.SearchOrder, "the order in which the ports of switches are tried", takeSearchOrder),
	boolOption("use_ucast_cache", "keep all routes of a what-if that lacks only hosts and leaf switches",
		func(s *Settings) *bool {
			return &s.cached
		}),
	{Name: "torus_config", Summary: "description of the torus or mesh for torus-2QoS (default: found from the " +
		"links)", File: true,
		read: setTorus},
	{Name: partitionFile, Summary: "the partitions, their members and service levels", File: true, read: setPartitions},
	{Name: policyFile, Summary: "the service levels of requests for paths, by their ports and criteria", File: true,
		read: setPolicy},
	{Name: "qos", Summary: "quality of service; if it is off, OpenSM sets no SL2VL tables, nue uses one VL, and " +
		"torus-2QoS refuses", boolean: true,
		set: invertedSetter(func(s *Settings, without bool) { s.torus.NoQoS, s.routing.NoQoS = without, without })},
	{Name: "vls", Was: "lanes", Summary: "let dor give paths service levels that prevent deadlock; OpenSM has " +
		"no such option", boolean: true,
		set: boolean(func(s *Settings) *bool { return &s.routing.DORVLs })},
	boolOption("exact", "if dfsssp or dor (with vls) lacks VLs, compute how many VLs it needs",
		func(s *Settings) *bool {
			return &s.routing.CountVLs
		}),
	boolOption("strict", "let torus-2QoS refuse subnets that OpenSM refuses, although torus-2QoS(8) describes them as "+
		"routable",
		func(s *Settings) *bool {
			return &s.torus.Strict
		}),
	{Name: "lfts_file", Summary: "forwarding tables for the engine file", File: true, read: setLFTs},
	{Name: "lid_matrix_dump_file", Summary: "hop counts for the engine file", File: true, read: setLIDMatrix},
}

// boolOption returns an option with the values TRUE and FALSE. The function field returns a pointer to the field that
// the option sets.
func boolOption(name, summary string, field func(*Settings) *bool) Option {
	return Option{Name: name, Summary: summary, boolean: true, set: boolean(field)}
}

// number returns the setter of an option whose value is a number in a range. The argument isNo completes the error for
// any other value.
func number(isNo string, low, high uint64, take func(*Settings, uint64)) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		n, err := strconv.ParseUint(value, 0, 64)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q%s, expected %d to %d", value, isNo, low, high)
		}
		take(s, n)
		return nil
	}
}

// Parse returns the settings for a chain of engines and for options. It reads the files that the options name. An empty
// chain means the default engine.
func Parse(ctx context.Context, chain []string, given []Setting) (Settings, error) {
	s := Settings{Chain: chain, Given: slices.Clone(given)}
	for k, g := range given {
		i := slices.IndexFunc(Options, func(o Option) bool {
			return o.Name == g.Name || o.Was != "" && o.Was == g.Name
		})
		if i < 0 {
			return Settings{}, fmt.Errorf("unknown option %q", g.Name)
		}
		if err := Options[i].take(ctx, &s, g.Value); err != nil {
			return Settings{}, fmt.Errorf("%s: %w", g.Name, err)
		}
		s.Given[k].Name = Options[i].Name
	}
	if len(s.Chain) == 0 {
		s.Chain = []string{engines.Default}
	}
	s.ownChain()
	if s.lids.LMC > 0 && slices.Contains(s.Chain, lash.Engine{}.Name()) {
		s.Notes = append(s.Notes, lashLMC)
	}
	s.noteTorusSLs()
	return s, s.chooseEngines()
}

// lashLMC is a note on a case in which OpenSM differs from its documentation.
const lashLMC = "with an LMC above 0, opensm(8) documents the default engine instead of lash; OpenSM 3.3.23 " +
	"routes with lash, and so does ibconsole"

// Only returns the settings with a single engine and without the unicast cache.
func (s Settings) Only(engine string) (Settings, error) {
	s.Chain, s.cached = []string{engine, engines.NoFallback}, false
	return s, s.chooseEngines()
}

// SameEngines reports whether s and o have the same options and, apart from no_fallback, the same chain.
func (s *Settings) SameEngines(o *Settings) bool {
	chain := func(s *Settings) []string {
		return slices.DeleteFunc(slices.Clone(s.Chain), func(name string) bool { return name == engines.NoFallback })
	}
	return slices.Equal(chain(s), chain(o)) && slices.Equal(s.Given, o.Given) && s.cached == o.cached
}

func (s *Settings) chooseEngines() (err error) {
	if slices.Contains(s.Chain, file.Name) && s.file.Routes == nil && s.file.Matrix == nil {
		s.Notes = append(s.Notes, "the engine file has no file: lfts_file=FILE or lid_matrix_dump_file=FILE is "+
			"missing, and without one OpenSM routes as minhop does")
	}
	s.engines, err = engines.Chain(s.Chain, s.file, s.torus)
	return err
}

// String returns the chain, "updn,minhop".
func (s *Settings) String() string { return strings.Join(s.Chain, ",") }

// Words returns the chain and the options as texts, as they were given.
func (s *Settings) Words() (chain, options string) {
	return s.String(), Words(s.Given)
}

// Words joins settings into a text that commands accept: "lmc=1 qos=yes".
func Words(given []Setting) string {
	return strings.Join(prose.Words(given, func(g Setting) string { return g.Name + "=" + g.Value }), " ")
}

// EngineNames returns all names that a chain can contain.
func EngineNames() []string { return append(engines.Names(), file.Name, engines.NoFallback) }

// invertedSetter returns the setter of a boolean option that is on by default. The setter calls the function take with
// true if the option is turned off.
func invertedSetter(take func(s *Settings, without bool)) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		on := false
		err := boolean(func(*Settings) *bool { return &on })(s, value)
		if err == nil {
			take(s, !on)
		}
		return err
	}
}

// boolean returns the setter of a boolean option. OpenSM treats every value except TRUE (in any case) as no. Here,
// values that mean neither yes nor no are an error.
func boolean(field func(*Settings) *bool) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		switch strings.ToLower(value) {
		case "true", "yes", "on", "1":
			*field(s) = true
		case "false", "no", "off", "0":
			*field(s) = false
		default:
			return fmt.Errorf("%q is not TRUE or FALSE", value)
		}
		return nil
	}
}

// takeNueVLs sets the number of VLs of nue. As in OpenSM, 0 means all VLs.
func takeNueVLs(s *Settings, n uint64) {
	if n == 0 {
		n = routing.AllVLs
	}
	s.routing.NueMaxVLs = uint8(n)
}

func setGUID2LID(ctx context.Context, s *Settings, path string) error {
	f, err := files.Parse(ctx, path, files.List, osm.ReadGUID2LID)
	if err != nil {
		return err
	}
	s.lids.GUID2LID = f.Table
	s.noteLines(f.Notes)
	return nil
}

func setLFTs(ctx context.Context, s *Settings, path string) (err error) {
	s.file.Routes, err = files.Parse(ctx, path, files.Tables, osm.ReadLFTs)
	return err
}

func setLIDMatrix(ctx context.Context, s *Settings, path string) (err error) {
	s.file.MatrixName = fabric.Escape(path)
	s.file.Matrix, err = files.All(ctx, path, files.Matrix)
	return err
}

func setTorus(ctx context.Context, s *Settings, path string) (err error) {
	if s.torus.Conf, err = files.Parse(ctx, path, files.List, osm.ReadTorusConf); err != nil {
		return err
	}
	s.noteLines(s.torus.Conf.Notes)
	for _, n := range s.torus.Conf.Bad {
		s.Notes = append(s.Notes, n.String()+"; torus-2QoS refuses")
	}
	return nil
}

func setPartitions(ctx context.Context, s *Settings, path string) (err error) {
	if s.partitions, err = files.Parse(ctx, path, files.List, osm.ReadPartitions); err == nil {
		s.noteLines(s.partitions.FileNotes())
	}
	return err
}

func setPolicy(ctx context.Context, s *Settings, path string) (err error) {
	s.policy, err = files.Parse(ctx, path, files.List, qospolicy.Read)
	return err
}

// HasPolicy reports whether a policy determines the SLs of paths. OpenSM reads none with quality of service off.
func (s *Settings) HasPolicy() bool { return s.policy != nil && s.QoS() }

// Policy returns the policy for a subnet, nil if there is none, or with the reason if OpenSM rejects it there.
func (s *Settings) Policy(f *fabric.Fabric) (*qospolicy.Bound, error) {
	if !s.HasPolicy() {
		return nil, nil
	}
	return s.policy.On(f, s.Partitions(f))
}

// PKeys returns the P_Keys of the end ports of a fabric, according to the partitions of the settings.
func (s *Settings) PKeys(f *fabric.Fabric) map[fabric.PortIndex][]mad.PKey {
	return osm.PKeys(f, s.Partitions(f))
}

// Partitions returns the partitions of a subnet. Without quality of service they have SL 0.
func (s *Settings) Partitions(f *fabric.Fabric) []osm.Partition {
	all := s.partitions.Of(f)
	for i := range all {
		if !s.QoS() {
			all[i].SL = 0
		}
	}
	return all
}

// GroupSL returns the SL that the partition file gives to a multicast group: that of the group's partition or, for a
// group whose partition is unknown, that of all partitions if they have the same one. The result known is false
// otherwise. OpenSM also lets a group that a host creates have the SL that the host asks for.
func (s *Settings) GroupSL(all []osm.Partition, g *fabric.Group) (sl uint8, known bool) {
	if s.partitions == nil || s.partitions.GroupSLs || len(all) == 0 {
		return 0, false
	}
	number := g.Partition()
	for i := range all {
		switch {
		case number == all[i].Number:
			return all[i].SL, true
		case all[i].SL != all[0].SL:
			known = true
		}
	}
	return all[0].SL, number == 0 && !known
}

// GroupSLs identifies the settings that determine the SLs of multicast groups.
type GroupSLs struct {
	partitions *osm.PartitionFile
	qos        bool
}

// GroupSLs returns the settings on which [Settings.GroupSL] depends.
func (s *Settings) GroupSLs() GroupSLs { return GroupSLs{s.partitions, s.QoS()} }

// HasPartitions reports whether a partition file was read.
func (s *Settings) HasPartitions() bool { return s.partitions != nil }

// Job returns a job that computes tables with these settings.
func (s *Settings) Job() *compute.Job {
	return &compute.Job{Engines: s.engines, Options: s.routing, LIDs: s.lids, Cached: s.cached, NoQoS: !s.QoS()}
}

// Remembered returns the LIDs that OpenSM remembers for a subnet from the guid2lid file. It omits the records that
// OpenSM drops. Without a guid2lid file, the result is empty.
func (s *Settings) Remembered(f *fabric.Fabric) *fabric.GUID2LID {
	if s.lids.GUID2LID == nil {
		return &fabric.GUID2LID{}
	}
	lids, _ := s.lids.WithoutContradictions(f)
	if !lids.Chosen {
		lids.LMC = f.MaxLMC()
	}
	return lids.Remembered(f)
}

// Conf returns the opensm.conf from which the settings were read, or "".
func (s *Settings) Conf() string { return s.conf }

// MaxOpVLs returns max_op_vls, 0 if it was not given.
func (s *Settings) MaxOpVLs() uint8 { return s.routing.MaxOpVLs }

// QoS reports whether quality of service is on. If it is off, OpenSM writes no SL2VL tables.
func (s *Settings) QoS() bool { return !s.torus.NoQoS }

// Engines returns the engines that can route with these settings.
func (s *Settings) Engines() []string {
	return slices.DeleteFunc(EngineNames(), func(name string) bool {
		return name == engines.NoFallback || name == file.Name && s.file.Routes == nil && s.file.Matrix == nil
	})
}

// Of returns the settings of a saved routing, with the LMC of s. If the saved routing has no settings or they cannot be
// used, it returns s. The chain of the result contains [engines.NoFallback] if either chain contains it.
func (s *Settings) Of(ctx context.Context, saved *snapshot.Snapshot) (Settings, []string, error) {
	r := saved.Routing
	if r == nil || r.Engine == "" {
		return *s, nil, nil
	}
	noFallback := slices.Contains(r.Chain, engines.NoFallback) || slices.Contains(s.Chain, engines.NoFallback)
	set, notes := s.parseSaved(ctx, r)
	if noFallback && !slices.Contains(set.Chain, engines.NoFallback) {
		set.Chain = append(slices.Clone(set.Chain), engines.NoFallback)
		return set, notes, set.chooseEngines()
	}
	return set, notes, nil
}

func (s *Settings) parseSaved(ctx context.Context, r *snapshot.Routing) (Settings, []string) {
	if slices.Contains(s.Chain, r.Engine) && len(r.Options) == 0 {
		return *s, nil
	}
	var given []Setting
	for _, o := range r.Options {
		if o.Name != "lmc" && o.Name != "guid2lid" && o.Name != "reassign_lids" {
			given = append(given, Setting(o))
		}
	}
	for _, g := range s.Given {
		if g.Name == "lmc" {
			given = append(given, g)
		}
	}
	chain := r.Chain
	if len(chain) == 0 {
		chain = []string{r.Engine}
	}
	set, err := Parse(ctx, chain, given)
	if err != nil {
		return *s, []string{
			fmt.Sprintf("its engine %s and options are of no use here (%v); what has to be routed again is routed "+
				"with %s",
				fabric.Escape(r.Engine), err, s.String()),
		}
	}
	return set, nil
}
