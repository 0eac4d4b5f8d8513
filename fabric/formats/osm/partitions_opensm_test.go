// SPDX-License-Identifier: Apache-2.0

package osm_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/sa"
)

// TestPartitionsEqualOpenSM compares the P_Keys of all end ports and the multicast groups that OpenSM makes of random
// files, with errors in many of them, with those that the reader predicts.
func TestPartitionsEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	var total partitionCounts
	for i := range testenv.Count(t, 20, 600) {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			comparePartitions(t, rand.New(rand.NewPCG(seed, 3)), &total)
		})
	}
	t.Logf("%+v", total)
	if total.groups == 0 || total.refused == 0 || total.broken == 0 || total.keys == 0 {
		t.Errorf("%+v, want some of each", total)
	}
}

var errorLines = regexp.MustCompile(`(?m)^.* 0x01 -> .*$`)

const groupLine = "%s P_Key %04x mtu %d rate %d SL %d Q_Key %x TClass %d flow %d hops %d scope %d"

type partitionCounts struct{ keys, groups, refused, broken int }

func comparePartitions(t *testing.T, r *rand.Rand, total *partitionCounts) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var net strings.Builder
	paper := gentest.Fabric(t, "fattree:2,4")
	if err := gen.WriteNet(&net, paper); err != nil {
		t.Fatal(err)
	}
	text := (&partitionWriter{r: r, f: paper}).file()
	qos := r.IntN(3) > 0
	sim := ibsimtest.Start(t, write("net", net.String()))
	logs := ibsimtest.Master(t, sim, "-F", write("opensm.conf", fmt.Sprintf("force_log_flush TRUE\nqos %s\n"+
		"sweep_interval 0\npartition_config_file %s\n", strings.ToUpper(fmt.Sprint(qos)), write("partitions", text))))
	client := ibsimtest.Client(t, sim, "")
	live, err := sweep.Full(t.Context(), client, sweep.Options{PKeys: true})
	if err != nil {
		t.Fatal(err)
	}
	file, err := osm.ReadPartitions(strings.NewReader(text), "partitions")
	if err != nil {
		t.Fatal(err)
	}
	all := file.Of(live.Fabric)
	file.Check(live.Fabric)
	fail := func(what string, theirs, ours any) {
		log, _ := os.ReadFile(filepath.Join(logs, "opensm.log"))
		t.Fatalf("%s\n%q\n%s\n%s: OpenSM has\n%v, want\n%v", text, text, errorLines.FindAll(log, -1), what, theirs,
			ours)
	}
	if file.Broken {
		total.broken++
	}
	keys := osm.PKeys(live.Fabric, all)
	for _, e := range live.Fabric.EndPorts {
		theirs := slices.DeleteFunc(slices.Clone(live.PKeys[e]), func(k mad.PKey) bool { return k == 0 })
		ours := slices.Clone(keys[e])
		slices.Sort(theirs)
		slices.Sort(ours)
		if !slices.Equal(theirs, ours) {
			fail("P_Keys of "+live.Fabric.PortName(e), theirs, ours)
		}
		total.keys += len(ours)
	}
	admin, err := sa.New(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	records, err := sa.GetTable(t.Context(), admin, sa.MCMemberRecord{}, 0)
	if errors.Is(err, mad.ErrTruncated) {
		t.Skip(err) // ibsim carries no answer of several packets
	}
	if err != nil {
		t.Fatal(err)
	}
	var theirs, ours []string
	for i := range records {
		m := &records[i]
		theirs = append(theirs, fmt.Sprintf(groupLine,
			m.MGID, m.PKey, m.MTU, m.Rate, m.SL, m.QKey, m.TrafficClass, m.FlowLabel, m.HopLimit, m.Scope))
	}
	for _, g := range file.Groups(all, qos) {
		if g.Refused != "" {
			total.refused++
			continue
		}
		if !slices.ContainsFunc(keys[live.Fabric.SMPort], func(k mad.PKey) bool {
			return k.Partition() == g.Group.Partition()
		}) {
			continue // the SA shows a group only to members of its partition
		}
		total.groups++
		low := lowest(live.Fabric)
		ours = append(ours, fmt.Sprintf(groupLine, g.MGID, g.PKey, cmp.Or(g.MTU, low), cmp.Or(g.Rate, 3), g.SL, g.QKey,
			g.TrafficClass, g.FlowLabel, g.HopLimit, g.Scope))
	}
	slices.Sort(theirs)
	slices.Sort(ours)
	if !slices.Equal(theirs, ours) {
		fail("groups", strings.Join(theirs, "\n"), strings.Join(ours, "\n"))
	}
}

// lowest returns the lowest MTU of a host, which OpenSM takes for a group without an exact one.
func lowest(f *fabric.Fabric) uint8 {
	low := uint8(mad.MTU4096)
	for _, e := range f.EndPorts {
		if !f.Nodes[f.Ports[e].Node].IsSwitch() {
			low = min(low, f.Ports[e].MTU)
		}
	}
	return low
}

// partitionWriter writes random files.
type partitionWriter struct {
	r *rand.Rand
	f *fabric.Fabric
	b strings.Builder
}

func (w *partitionWriter) pick(words ...string) string { return words[w.r.IntN(len(words))] }

func (w *partitionWriter) guid() string {
	return fmt.Sprintf("0x%x", w.f.Ports[w.f.EndPorts[w.r.IntN(len(w.f.EndPorts))]].GUID)
}

func (w *partitionWriter) space() string { return w.pick("", "", "", " ", "\t", "  ") }

func (w *partitionWriter) flag() string {
	return w.pick("mtu=", "mtu=", "rate=", "rate=", "sl=", "sl=", "scope=", "Q_Key=", "TClass=", "FlowLabel=", "m=",
		"r = ", "s=", "F=", "mtux=", "Mtu=") + w.pick("1", "3", "4", "5", "0", "2", "4", "4", "3", "16", "0x4", "4096",
		"2048", "abc", "", "64",
		"68", "133", "22", "40", "-1", "5x", "3 x", "010", "1048576", "260")
}

func (w *partitionWriter) flags(n int) string {
	var b strings.Builder
	for range w.r.IntN(n) {
		b.WriteString(w.space() + "," + w.space() + w.flag())
	}
	return b.String()
}

func (w *partitionWriter) member() string {
	m := w.pick("ALL", "ALL_CAS", "ALL_SW", "SELF", "NONE", "ALL_ROUTERS", w.guid(), w.guid(), w.guid(), w.guid(),
		w.guid(), "0x1234")
	if w.r.IntN(40) == 0 {
		m = w.pick("0", "host1", "0x12g", "")
	}
	return m + w.pick("", "", "=full", "=limited", "=both", "=f", "=l", "=some", "=", " = full ")
}

func (w *partitionWriter) mgroup() string {
	return "mgid" + w.pick("=", "=", " = ") + w.pick("ff12::1", "ff12::1", "ff12::2", "ff15::3", "ff12:401b::16",
		"ff12:601b::2", "ff12:401b:8021::7", "ff12:401b:ffff::ffff:ffff", "ff32::5", "ff12:a01b::1", "ff15:a01b::1",
		"fe80::1",
		"x") + w.flags(3)
}

func (w *partitionWriter) file() string {
	// OpenSM reads behind the end of some lines. The first line fills its buffer.
	w.b.WriteString("#" + strings.Repeat(" ", 1000) + "\n")
	for range 1 + w.r.IntN(5) {
		w.b.WriteString(w.pick("Default=0x7fff", "Default", "A=0x21", "A=0x8021", "B=0x100", "C", "D", "0x55", "=0x60",
			"E=0x8000"))
		w.b.WriteString(w.pick("", ", ipoib", ", ipoib", ",ip", ", indx0", ", unknown", ","))
		w.b.WriteString(w.flags(3))
		w.b.WriteString(w.pick("", "", "", ",defmember=full", ", defm=both", ", defmember=x", ",defmember="))
		w.b.WriteString(w.space() + ":" + w.pick(" ", "\n", " \n\t"))
		for range w.r.IntN(4) {
			if w.r.IntN(2) == 0 {
				w.b.WriteString("  " + w.mgroup() + w.pick("\n", "\n", " # a remark\n", " # one, sl=3\n"))
				continue
			}
			w.b.WriteString(w.member())
			for range w.r.IntN(4) {
				w.b.WriteString(w.space() + "," + w.space() + w.member())
			}
			w.b.WriteString(w.pick("\n", ",\n", ", # more\n", ","))
		}
		w.b.WriteString(w.pick("ALL=full", "SELF", "SELF=full", "SELF", w.guid(), w.member(), "") + w.space())
		w.b.WriteString(w.pick(";\n", ";\n", ";\n", " ; ", ";\n# a line\n", "\n;\n", ";"))
		if w.r.IntN(25) == 0 {
			w.b.WriteString(";")
		}
	}
	if w.r.IntN(10) == 0 {
		w.b.WriteString(w.pick("A=0x21", "text", "A=:ALL;", "A=x:ALL;", "A=0x21:0x1q;\n", "\r\n"))
	}
	if w.r.IntN(10) == 0 {
		return strings.ReplaceAll(w.b.String(), "\n", "\r\n")
	}
	return w.b.String()
}
