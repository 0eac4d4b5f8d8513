// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing/engines/lash"
	"example.org/ibconsole/routing/engines/nue"
	"example.org/ibconsole/routing/engines/sssp"
	"example.org/ibconsole/routing/engines/torus"
)

// noteTorusQoS notes the quality-of-service settings of an opensm.conf that torus-2QoS does not support, as its checks
// in OpenSM do (osm_torus.c, check_qos_swe_config and check_qos_ep_config; torus-2QoS(8)).
func (s *Settings) noteTorusQoS(conf *osm.Conf) {
	if !slices.Contains(s.Chain, torus.Name) || !s.QoS() {
		return
	}
	for _, o := range conf.Options {
		if strings.HasPrefix(o.Name, "qos_") && strings.HasSuffix(o.Name, "sl2vl") {
			s.Notes = append(s.Notes, fmt.Sprintf("%s:%d: %s is ignored: torus-2QoS maps SLs to VLs itself", conf.Name,
				o.Line, o.Name))
		}
	}
	c := qosConf{conf}
	for _, table := range []struct{ suffix, without string }{
		{"vlarb_high", osm.DefaultVLArbHigh}, {"vlarb_low", osm.DefaultVLArbLow},
	} {
		w := osm.VLArbWeights(c.value(switchLinks, table.suffix, table.without))
		if !uniform(w[:4]) || !uniform(w[4:8]) {
			s.Notes = append(s.Notes, fmt.Sprintf("%s: the weights of VLs 0 to 3, or those of VLs 4 to 7, differ; "+
				"torus-2QoS requires equal ones on links between switches", c.origin(switchLinks, table.suffix)))
		}
		var of []string
		for _, ports := range endLinks {
			if w := osm.VLArbWeights(c.value(ports, table.suffix, table.without)); slices.Max(w[2:8]) > 0 {
				of = append(of, c.origin(ports, table.suffix))
			}
		}
		if of != nil {
			s.Notes = append(s.Notes, fmt.Sprintf("%s: VLs 2 to 7 have weights; torus-2QoS recommends 0 on links of "+
				"end ports", strings.Join(of, ", ")))
		}
	}
	for _, ports := range append([]string{switchLinks}, endLinks...) {
		needs := 2
		if ports == switchLinks {
			needs = 8
		}
		if n := c.number(ports, "max_vls"); n > 0 && n < uint64(needs) {
			s.Notes = append(s.Notes, fmt.Sprintf("%s: %d VLs; torus-2QoS needs %d for all its functions",
				c.origin(ports, "max_vls"), n, needs))
		}
	}
}

// Prefixes of options of quality of service: for all ports, for external ports of switches, and for end ports.
const (
	allLinks    = "qos"
	switchLinks = "qos_swe"
)

var endLinks = []string{"qos_ca", "qos_sw0", "qos_rtr"}

// qosConf is an opensm.conf as it configures ports of one kind: by the options of this kind, or else by those for all.
type qosConf struct{ *osm.Conf }

func (c qosConf) value(ports, suffix, without string) string {
	return cmp.Or(c.Get(ports+"_"+suffix), c.Get(allLinks+"_"+suffix), without)
}

func (c qosConf) number(ports, suffix string) uint64 {
	return cmp.Or(c.Uint(ports+"_"+suffix), c.Uint(allLinks+"_"+suffix))
}

// origin names the option that configures ports of a kind, and its place.
func (c qosConf) origin(ports, suffix string) string {
	name := ports + "_" + suffix
	for _, option := range []string{name, allLinks + "_" + suffix} {
		for _, o := range c.Options {
			if o.Name == option && o.Value != "0" {
				if option != name {
					name = fmt.Sprintf("%s (from %s)", name, option)
				}
				return fmt.Sprintf("%s:%d: %s", c.Name, o.Line, name)
			}
		}
	}
	return fmt.Sprintf("%s: %s (default)", c.Name, name)
}

// uniform reports whether all weights are equal.
func uniform(weights []uint64) bool { return slices.Min(weights) == slices.Max(weights) }

// noteTorusSLs notes partitions and QoS levels with an SL that torus-2QoS does not support. torus-2QoS reads its
// quality-of-service level from bit 3 of an SL, and sets the other bits of the SL itself for each path (torus-2QoS(8)).
func (s *Settings) noteTorusSLs() {
	if !s.torusLevels() {
		return
	}
	note := func(file string, line int, sl uint8, of string) {
		if !torus.Supports(sl) {
			s.noteLines([]osm.FileNote{torusSL(file, line, sl, of)})
		}
	}
	if s.partitions != nil {
		for _, p := range s.partitions.Defined() {
			note(s.partitions.Name, p.Line, p.SL, "partition "+p.Name)
		}
	}
	if s.policy != nil {
		for _, l := range s.policy.Levels() {
			note(s.policy.Name, l.Line, l.SL, "the qos-level "+l.Name)
		}
	}
}

// torusLevels reports whether torus-2QoS takes its quality-of-service level from SLs.
func (s *Settings) torusLevels() bool { return slices.Contains(s.Chain, torus.Name) && s.QoS() }

func torusSL(file string, line int, sl uint8, of string) osm.FileNote {
	return osm.FileNote{File: file, Line: line, Text: fmt.Sprintf("service level %d of %s: torus-2QoS allows only 0 "+
		"and 8; its paths get level %d of quality of service", sl, fabric.Escape(of), sl>>3&1)}
}

// ownSLs are the engines that compute the SLs of all paths themselves.
var ownSLs = []string{lash.Engine{}.Name(), sssp.DeadlockFree{}.Name(), nue.Name}

// partitionSLs returns notes on the SLs of partitions that have no effect or another one with these settings.
func (s *Settings) partitionSLs(p *osm.PartitionFile) (notes []osm.FileNote) {
	note := func(of *osm.Partition, why string) {
		notes = append(notes, osm.FileNote{File: p.Name, Line: of.Line, Text: fmt.Sprintf("service level %d of "+
			"partition %s %s", of.SL, fabric.Escape(of.Name), why)})
	}
	all := p.Defined()
	for i := range all {
		of := &all[i]
		own := slices.IndexFunc(s.Chain, func(name string) bool { return slices.Contains(ownSLs, name) })
		switch {
		case of.SL == 0:
		case !s.QoS():
			note(of, "has no effect: quality of service is off")
		case s.torusLevels() && !torus.Supports(of.SL):
			notes = append(notes, torusSL(p.Name, of.Line, of.SL, "partition "+of.Name))
		case s.HasPolicy():
			note(of, "applies to its multicast groups only: qos_policy_file determines the service levels of paths")
		case own >= 0:
			note(of, "applies to its multicast groups only: "+s.Chain[own]+" computes the service levels of paths")
		}
	}
	return notes
}

// CheckPartitions returns the remarks on a partitions.conf in a subnet with these settings, sorted by line. It also
// returns the partitions and multicast groups that OpenSM would make of the file.
func (s *Settings) CheckPartitions(p *osm.PartitionFile, f *fabric.Fabric) ([]osm.PartitionNote, []osm.Partition,
	[]osm.PartitionGroup,
) {
	notes := p.Check(f)
	for _, n := range s.partitionSLs(p) {
		notes = append(notes, osm.PartitionNote{FileNote: n, Kind: "service level"})
	}
	slices.SortStableFunc(notes, func(a, b osm.PartitionNote) int { return a.Line - b.Line })
	with := *s
	with.partitions = p
	all := with.Partitions(f)
	return notes, all, p.Groups(all, s.QoS())
}

// PartitionFile returns the partitions.conf of the settings, nil for none.
func (s *Settings) PartitionFile() *osm.PartitionFile { return s.partitions }
