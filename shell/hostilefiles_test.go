// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	_ "modernc.org/sqlite" // to spoil a history

	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
)

var tokens = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'|[A-Za-z0-9_.+/-]{2,}`)

// spoiled are variants of a text, in each of which something hostile stands in one of its words, or for it: in
// those of the first line of each form.
func spoiled(text string) (out []string) {
	forms := map[string]bool{}
	digits := regexp.MustCompile(`[0-9a-f]+`)
	for _, at := range tokens.FindAllStringIndex(text, -1) {
		begin := strings.LastIndexByte(text[:at[0]], '\n') + 1
		form := digits.ReplaceAllString(text[begin:at[1]], "0")
		if forms[form] {
			continue
		}
		forms[form] = true
		middle := (at[0] + at[1]) / 2
		for !utf8.RuneStart(text[middle]) {
			middle--
		}
		out = append(out, text[:middle]+hostile+text[middle:], text[:at[0]]+"\x00"+hostile+text[at[1]:])
	}
	return out
}

// spoiledJSON are variants of JSON, in each of which one string is hostile.
func spoiledJSON(text string) (out []string) {
	evil, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	for _, at := range regexp.MustCompile(`"[^"\n]*"`).FindAllStringIndex(text, -1) {
		out = append(out, text[:at[0]]+string(evil)+text[at[1]:])
	}
	return out
}

// others are files that the program reads and does not write.
var others = map[string]string{
	"torus_config": "torus 2 2 1\nxp_link 0x200000 0x200001\nyp_link 0x200000 0x200002\nx_dateline " +
		"0\nnext_seed\nmax_changes 3\nportgroup_max_ports 4\nport_order 1 2 3\n",
	"partition_config_file": "Default=0x7fff, ipoib, sl=3, mtu=4, rate=3, scope=2, defmember=full: ALL, SELF=full, " +
		"0x10001=limited;\nother=0x11, indx0: ALL_CAS, name=both;\n",
	"root_guid_file": "0x200001\n# comment\n0x200002 word\n",
	"from": "routing_engine updn,minhop\nroot_guid_file /none/roots\nlmc 1\nsm_priority 300\nunknown_option " +
		"value\nqos TRUE\nmax_op_vls 5\nqos_ca_sl2vl 0,1,2\npartition_config_file /none/partitions\nscatter_ports " +
		"banana\ntorus_config /none/torus\nuse_ucast_cache FALSE\n(null) word\n",
}

const groupFile = "MC Group 0xc001 : mgid=0xff12000000000000:0x1000\nmcm_port: " +
	"port_gid=0xfe80000000000000:0x0000000000100001\nmcm_port: port_gid=0xfe80000000000000:0x0000000000100005\n"

const portList = "SW    11 11 0x0000000000200001 4x SDR - CA     7  1 0x0000000000100013 ( 'leaf-01' - 'node-0002 " +
	"HCA-1' )\nSW    11 12 0x0000000000200001 4x ???                                    'leaf-01'\n"

const linkInfo = "Switch: 0x0000000000200001 leaf-01:\n          11    1[  ] ==( 4X           2.5 Gbps Active/  " +
	"LinkUp)==>       7    1[  ] \"node-0002 HCA-1\" ( Could be 5.0 Gbps )\n          11    2[  ] ==(                " +
	"Down/ Polling)==>             [  ] \"\" ( )\nCA: node-0002 HCA-1:\n      0x0000000000100013      7    1[  ] ==( " +
	"4X           2.5 Gbps Active/  LinkUp)==>      11    1[  ] \"leaf-01\" ( )\n"

// written are files of each kind that the program writes, and of which commands read them.
func written(v *victim) map[string]string {
	v.t.Helper()
	out := map[string]string{}
	for _, kind := range []string{"lfts", "fdbs", "subnet", "topology", "lid-matrix", "guid2lid", "sl2vl", "sls",
		"mcfdbs", "groups"} {
		file := filepath.Join(v.dir, kind)
		said := v.run("dump", kind, file)
		text, err := os.ReadFile(file)
		if err != nil {
			v.t.Fatal(said)
		}
		out[kind] = string(text)
	}
	said := v.run("dump", "ibdiagnet", filepath.Join(v.dir, "ibdiagnet"))
	text, err := os.ReadFile(filepath.Join(v.dir, "ibdiagnet", "ibdiagnet2.db_csv"))
	if err != nil {
		v.t.Fatal(said)
	}
	out["db_csv"] = string(text)
	return out
}

// TestHostileFiles puts hostile text into each word of a file of each kind, has every command read it that takes
// such a file, and looks at what is said then and by the commands that say more of it.
func TestHostileFiles(t *testing.T) {
	v := newVictim(t, "sim:fattree:2,4")
	t.Chdir(v.dir)
	v.run("load", "groups", v.file(groupFile))
	v.run("engine", "dfsssp")
	v.run("route")
	files, before := written(v), v.runs
	type reading struct{ text, then string }
	readings := map[string]reading{}
	readings["load    topology FILE"] = reading{files["db_csv"], "problems"}
	delete(files, "db_csv")
	for kind, text := range files {
		readings["load "+kind+" FILE"] = reading{text, "show states"}
	}
	for option, text := range others {
		readings["engine torus-2QoS,minhop "+option+"=FILE"] = reading{text, "route"}
	}
	readings["load topology FILE"] = reading{files["topology"], "problems"}
	readings["load topology FILE as=ibsim"] = reading{netOf(v), "problems"}
	readings["baseline load FILE"] = reading{files["subnet"], "problems"}
	readings["load  topology FILE"] = reading{portList, "summary"}
	readings["load   topology FILE"] = reading{linkInfo, "summary"}
	readings["names FILE"] = reading{"# names\n0x200001 \"first\"\n0x200002 second\n", "show switches"}
	readings["trace file=FILE"] = reading{"node-0001 node-0002\nleaf-01 lid:3 # why\n", "summary"}
	readings["check load pattern=hosts:FILE"] = reading{"node-0001 node-0002\nleaf-01 lid:3 # why\n", "summary"}
	for command, r := range readings {
		variants := append(spoiled(r.text), hostile+"\n"+hostile)
		for i := range variants[:testenv.Count(t, min(len(variants), 30), len(variants))] {
			v.run(wordsWith(command, v.file(variants[i]))...)
			v.run(strings.Fields(r.then)...)
		}
	}
	for _, text := range spoiled("trace node-0001 node-0002; show node leaf-01 limit=3; engine 'no such'; fail link " +
		"leaf-01 1 x=y\n") {
		v.script(text)
	}
	t.Logf("%d readings", v.runs-before)
}

func wordsWith(command, file string) (words []string) {
	for w := range strings.FieldsSeq(command) {
		words = append(words, strings.ReplaceAll(w, "FILE", file))
	}
	return words
}

func netOf(v *victim) string {
	f, err := gen.Parse("fattree", []string{"2,4"})
	if err != nil {
		v.t.Fatal(err)
	}
	var b strings.Builder
	if err := gen.WriteNet(&b, f); err != nil {
		v.t.Fatal(err)
	}
	return b.String()
}

// TestHostileReports puts hostile text into each string of a report of resilience.
func TestHostileReports(t *testing.T) {
	v := newVictim(t, "sim:fattree:2,4")
	file := filepath.Join(v.dir, "report")
	v.run("resilience", "links", "to="+file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	old, _, _ := strings.Cut(string(text), `,"checksum"`)
	for _, variant := range append(spoiledJSON(string(text)), spoiledJSON(old+"}")...) {
		v.run("resilience", "merge", v.file(variant))
	}
}

// TestHostileHistory puts hostile text into each string of a history, of its rows and of its schema, and runs
// every command on it.
func TestHostileHistory(t *testing.T) {
	dir := t.TempDir()
	v := newVictimIn(t, "sim:fattree:2,4", dir)
	for _, cmd := range []string{"sweep", "route", "write on", "commit yes", "fail switch spine-01", "route",
		"commit yes"} {
		v.run(strings.Fields(cmd)...)
	}
	exported := filepath.Join(v.dir, "exported")
	v.run("history", "export", exported)
	spoil(t, exported, func(db *sql.DB) error {
		for table, columns := range map[string]string{
			"entry": "kind who source engine options note", "journal": "state who note",
		} {
			for column := range strings.FieldsSeq(columns) {
				if _, err := db.Exec(fmt.Sprintf("UPDATE %s SET %s = ?||id", table, column), line); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if said := v.run("history", "import", exported); !strings.Contains(said, "imported") ||
		strings.Contains(said, "\n0 entries") {
		t.Fatalf("the spoiled history is not taken: %s", said)
	}
	for _, words := range [][]string{
		{"history"}, {"history", "all"}, {"history", "show", "5"}, {"history", "show", "9"}, {"diff", "5", "6"},
		{"rollback"}, {"commit", "resume"}, {"summary"},
	} {
		v.run(words...)
	}
	for _, schema := range []string{"CREATE TABLE entry (" + line, "CREATE TABLE \"" + line + "\" (x)"} {
		spoil(t, exported, func(db *sql.DB) error {
			_, err := db.Exec("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = ? WHERE name = 'entry'",
				schema)
			return err
		})
		if said := v.run("history", "import", exported); strings.Contains(said, "imported") {
			t.Errorf("a damaged history is taken: %s", said)
		}
	}
}

func spoil(t *testing.T, file string, change func(*sql.DB) error) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := change(db); err != nil {
		t.Fatal(err)
	}
}
