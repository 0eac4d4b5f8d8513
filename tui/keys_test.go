// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// TestKeymap checks that each key has one action in each pane, and each action a name, a group and a help.
func TestKeymap(t *testing.T) {
	names := map[string]bool{}
	for _, a := range keymap() {
		if a.Name == "" || a.Help().Desc == "" || a.Group == "" || a.Run == nil || len(a.Keys()) == 0 {
			t.Errorf("incomplete: %+v", a)
		}
		if names[a.Name] {
			t.Errorf("two actions are called %s", a.Name)
		}
		names[a.Name] = true
	}
	if key, first, second := sharedKey(keymap()); key != "" {
		t.Errorf("%s is both %s and %s", key, first, second)
	}
	if key, _, _ := sharedKey(slices.Concat(keymap(), keymap())); key == "" {
		t.Error("keys that two actions have in the same pane are no conflict")
	}
}

// TestKeyChanges checks that the listed actions exist.
func TestKeyChanges(t *testing.T) {
	for _, c := range keyChanges {
		if !slices.ContainsFunc(keymap(), func(a pane.Action) bool { return a.Name == c.action }) {
			t.Errorf("there is no action %s", c.action)
		}
	}
}

var update = flag.Bool("update", false, "write the list of keys and the golden screens")

// TestKeyList compares the list of keys in the documents with the program.
func TestKeyList(t *testing.T) {
	path := filepath.Join("..", "docs", "keys.md")
	if *update {
		if err := os.WriteFile(path, []byte(keyList()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != keyList() {
		t.Errorf("%s differs from the key map: go test ./tui -run TestKeyList -update", path)
	}
}

// FuzzKeys presses any keys at any sizes. The frame must always fit.
func FuzzKeys(f *testing.F) {
	for _, s := range []string{"2jjjlttjjT23zz?G\x1b", ":fail link leaf-01 3\rr3oovvd", "6bbbsssmm4b57 i\x1b[[]]C\x1b",
		"\x80\x81jjfrfurw\x82", "/leaf\r4hhll:\t\t\t\t\r", "\x83!qx:shell\rtTx\x7f\x7f"} {
		f.Add(s)
	}
	special := []tea.KeyType{tea.KeyEnter, tea.KeyEsc, tea.KeyTab, tea.KeyShiftTab, tea.KeyUp, tea.KeyDown, tea.KeyLeft,
		tea.KeyRight,
		tea.KeyPgUp, tea.KeyPgDown, tea.KeyHome, tea.KeyEnd, tea.KeyBackspace, tea.KeyCtrlW, tea.KeyCtrlU,
		tea.KeyCtrlLeft, tea.KeyDelete}
	f.Fuzz(func(t *testing.T, keys string) {
		d := drive(t, "sim:fattree:2,4")
		for _, b := range []byte(keys[:min(len(keys), 80)]) {
			switch i := slices.Index([]byte("\r\x1b\t"), b); {
			case i >= 0:
				d.send(tea.KeyMsg{Type: special[i]})
			case b >= 0xc0:
				d.send(tea.KeyMsg{Type: special[int(b)%len(special)]})
			case b >= 0x80:
				s := sizes[int(b)%len(sizes)]
				d.size(s[0], s[1])
			// no paths: load and dump would touch files
			case b >= 0x20 && b < 0x7f && !(d.m.prompt.commanding() && b == '/'):
				d.send(rune1(rune(b)))
			}
			d.settle()
			d.check()
			if d.m.jobs.question != nil { // answers would write files
				d.send(tea.KeyMsg{Type: tea.KeyEsc})
				d.settle()
			}
		}
	})
}

// TestHelpSaysAll checks that long texts of the page of keys continue on the next line at every size, and that ? again
// lists the columns of the pane.
func TestHelpSaysAll(t *testing.T) {
	d := drive(t, "sim:fattree:2,4")
	for _, size := range [][2]int{{200, 50}, {80, 24}, {40, 12}} {
		d.size(size[0], size[1]).press("5", "?")
		help := d.m.pages.over.(*helpPage)
		for help.selected() == nil || help.selected().Name != "hosts" {
			d.press("down")
		}
		for range 10 {
			d.press("down")
		}
		said := ""
		for _, r := range help.rows {
			said += r.text + " "
		}
		if !strings.Contains(said, "lists their traffic") ||
			!strings.Contains(said, "(there is no trace: t and T mark its ends)") {
			t.Errorf("%v: the page has %s", size, said)
		}
		for _, l := range help.Frame(d.m.body()) {
			if strings.Contains(l, d.m.Look.Ellipsis) {
				t.Errorf("%v: a line is cut: %s", size, l)
			}
		}
		d.press("esc")
	}
	d.size(120, 36).press("3", "?", "?").sees("Columns of 3 LFT", "destination",
		"switches on the rest of the path").press("?").sees("›3 LFT")
	d.press("?", "/", "on the rest of the path").sees("hops").misses("read the subnet again").press("esc", "esc")
}

// TestColumnsAreExplained checks that every column of a pane or an answer has a help and is wide enough for its name,
// and that the help explains every head on the screen.
func TestColumnsAreExplained(t *testing.T) {
	d := drive(t, "sim:fattree:2,4").size(200, 50)
	d.press(":sweep full mft sl2vl vlarb", "enter", ":fail link leaf-01 3", "enter", "r")
	d.press("2", "/", "node-0001", "enter", "t", "/", "node-0008", "enter", "T")
	wrong, headed := map[string]bool{}, map[string]bool{}
	look := func() {
		name, base := d.m.pane().About().Name, d.m.pane().Base()
		explained := map[string]bool{}
		for _, c := range base.Cols {
			explained[strings.TrimSpace(c.Name)] = c.Help != ""
			switch {
			case c.Name == "":
			case c.Help == "":
				wrong[name+" "+c.Name+" has no help"] = true
			case c.Wide+c.Least > 0 && draw.Width(c.Name) > max(c.Wide, c.Least):
				wrong[name+" "+c.Name+" is too narrow"] = true
			}
		}
		for _, head := range d.heads() {
			headed[name] = true
			if !explained[head] {
				wrong[name+" shows the head "+head] = true
			}
		}
	}
	views := func() {
		look()
		for range max(len(d.m.pane().Base().Kinds), 1) {
			d.press("b")
			look()
		}
	}
	for _, size := range [][2]int{{200, 50}, {80, 24}} {
		for id := range d.m.all {
			d.size(size[0], size[1]).press(d.m.digit(id), "z")
			views()
			d.press("z")
		}
	}
	for _, name := range []string{"Topology", "LFT", "Trace", "What-if", "Load", "Engines", "Resilience"} {
		if !headed[name] {
			t.Errorf("%s shows no heads", name)
		}
	}
	for _, command := range []string{"show nodes", "show links", "show ports leaf-01", "show lft leaf-01",
		"show states", "show targets", "show counters all", "show sl2vl leaf-01",
		"show roots histogram", "compare engines minhop updn", "balance switch all", "who uses leaf-01", "problems",
		"history", "adaptive on", "adaptive show", "check load", "show lft leaf-01"} {
		d.press(":"+command, "enter")
		views()
	}
	for _, text := range slices.Sorted(maps.Keys(wrong)) {
		t.Error(text)
	}
}

// heads returns the heads of columns that the pane with the keyboard shows at the left edge of the screen, or nil if it
// draws none.
func (d *driver) heads() []string {
	p := d.m.pane()
	line := strings.Split(d.screen(), "\n")[3]
	var heads []string
	for _, head := range regexp.MustCompile(` {2,}`).Split(strings.Trim(line, " │┃║┆┇█"), -1) {
		heads = append(heads, strings.TrimRight(head, d.m.Look.Up+d.m.Look.Down))
	}
	switch name := p.About().Name; {
	case name == "Topology" && len(heads) > 3:
		return heads[2:] // after the tier and its size
	case len(p.Base().Shown()) == 0 || heads[0] != strings.TrimSpace(p.Base().Shown()[0].Name):
		return nil
	}
	return heads
}

// TestComparisonIsProved checks that the stories and tests exist that the documents name next to the keys of the
// program.
func TestComparisonIsProved(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "screen.md"))
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, pattern := range []string{"*_test.go", filepath.Join("*", "*_test.go")} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(source)
		}
	}
	_, table, _ := strings.Cut(string(text), "| proved by |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	lines := strings.Split(table, "\n")[1:]
	if len(lines) < 30 {
		t.Errorf("the table has %d rows", len(lines))
	}
	for _, line := range lines {
		cells := strings.Split(line, "|")
		names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[len(cells)-2], -1)
		if names == nil {
			t.Errorf("nothing proves %s", cells[1])
		}
		for _, name := range names {
			if !strings.Contains(sources.String(), "\""+name[1]+"\"") &&
				!strings.Contains(sources.String(), "func "+name[1]+"(") {
				t.Errorf("%s: there is no story or test %q", cells[1], name[1])
			}
		}
	}
}

// TestEnterOnNothing checks the message of Enter if there are no rows.
func TestEnterOnNothing(t *testing.T) {
	d := drive(t, "sim:fattree:2,4").size(80, 24)
	d.press("1", "enter").sees("! Enter: no problem is selected").press("5",
		"enter").sees("! Enter: no row is selected")
	d.press("S").sees("! S: this is for 9 Resilience").press("l").sees(": this is for 1 Problems, 2 Topology, 6 " +
		"Load, 7 History, 8 Log")
}

// keyList returns the list of keys as a document.
func keyList() string {
	var b strings.Builder
	b.WriteString("# Keys\n\nFind the key of an action, or bind other keys. This page lists all keys of the screen. " +
		"On the\nscreen, `?` " +
		"lists them. The page is generated: `go test ./tui -run TestKeyList -update`.\n\n" +
		"## Bind other keys\n\nThe file `$XDG_CONFIG_HOME/ibconsole/config` " +
		"(`~/.config/ibconsole/config`) binds other keys to\n" +
		"actions, one action per line. Actions that the file does not name keep their keys:\n\n" +
		"    theme light\n    skin skin.yaml\n    mouse off\n    pane last\n    key sweep = F5 ctrl+r\n" +
		"    key quit = Q\n" +
		"    bind F6 = changes since=20m\n    bind F7 = show ports $NODE\n    bind F8 = ! ping -c 3 $NODE\n" +
		"    bind F9 = !! grep \"$GUID\" /etc/opensm/* | less\n    alias w = who uses\n" +
		"    columns LFT = LID, next hop, port\n\n" +
		"* A key is one of: a character, `space`, `ctrl+LETTER`, `alt+CHARACTER`, `f1` to `f12`,\n  `" +
		strings.Join(namedKeys[:8], "`, `") + "`,\n  `" + strings.Join(namedKeys[8:15], "`, `") + "`.\n" +
		"* A key of the file is taken from the action that has it by default. An action without keys can be\n" +
		"  run from the list that `?` opens; `quit`, `help` and `escape` must keep a key.\n" +
		"* `bind KEY = COMMAND` runs a command of the shell. `! PROGRAM ARG...` starts a program on the\n" +
		"  terminal, without a shell. `!! TEXT` runs a line with `sh -c`.\n" +
		"* `$NODE`, `$PORT`, `$LID` and `$GUID` stand for the selected node, port, LID and GUID. A command\n" +
		"  and the arguments of a program get each value as a single word, whatever a name contains. After\n" +
		"  `!!` they are variables of the environment.\n" +
		"* `pane NAME` opens a pane at the start, and `pane last` the pane that you chose last in the last\n" +
		"  session. Without this line, the pane Problems opens when the subnet that was read has errors.\n" +
		"* `alias WORD = COMMAND` defines a word for the start of a command. Aliases work after `:` and in\n" +
		"  the shell, not in scripts. An alias takes precedence over a command of the same name.\n" +
		"* `columns PANE = HEAD, HEAD...` shows only these columns of a pane, in this order. Case is ignored;\n" +
		"  `?` twice lists the heads of a pane. Columns without a head stay on the left, and so does the column\n" +
		"  that names the row if you leave it out. A view that has none of these columns is not changed. **s**\n" +
		"  sorts only by these columns; filters, copies and exports use all columns. The panes Topology, Log,\n" +
		"  Answer and Map have no columns to choose.\n" +
		"* A skin is a YAML file that changes styles of the theme, except those of the theme none.\n" +
		"  Example: `cursor: {fg: \"#ffffff/15\", bg: \"#00408f/4\", bold: true}`. A colour is `#rrggbb`; `/N`\n" +
		"  adds the number of the colour for terminals with 16 colours. A style can also have\n" +
		"  `bold`, `reverse` and `underline`. If a skin has an unknown style name, the error lists all names.\n")
	group := ""
	for _, a := range keymap() {
		if a.Group != group {
			group = a.Group
			fmt.Fprintf(&b, "\n## %s\n\n| keys | action | what it does |\n|---|---|---|\n", group)
		}
		names := make([]string, len(a.Keys()))
		for i, k := range a.Keys() {
			names[i] = "`" + strings.ReplaceAll(draw.PlainKeyName(k), "|", `\|`) + "`" // for the table
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(names, " "), a.Name, a.Help().Desc)
	}
	b.WriteString("\n## New and moved keys\n\nAfter an update, the screen shows new and moved keys once.\n\n" +
		"| action | key | before |\n|---|---|---|\n")
	for _, c := range keyChanges {
		for _, a := range keymap() {
			if a.Name == c.action {
				fmt.Fprintf(&b, "| %s | `%s` | %s |\n", c.action, draw.PlainKeyName(a.Keys()[0]), cmp.Or(c.was, "none"))
			}
		}
	}
	b.WriteString("\n## Words that open panes\n\n`:WORD` opens a pane, and `:q` quits.\n\n| word | pane |\n|---|---|\n")
	for _, k := range shell.Keys() {
		if k.Pane != "" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.Join(nouns(&k), "` `"), k.Pane)
		}
	}
	b.WriteString("\n## Mouse\n\n* A click on a row selects it. A click on the selected row opens it, like Enter.\n" +
		"* A click on the head of a column sorts by it; a second click reverses the order.\n" +
		"* A click on a choice of a form selects it. A click on the name of a pane, or on a key in the last\n" +
		"  line, acts like the key.\n* The wheel scrolls the pane under the pointer.\n" +
		"* In most terminals, hold Shift to select text; `mouse off` leaves the mouse to the terminal.\n\n" +
		"## Filters\n\n`/` shows only rows that match:\n\n| filter | rows that |\n|---|---|\n" +
		"| `/leaf` | contain a text; case is ignored |\n| `//leaf-0[1-3]$` | match a regular expression |\n" +
		"| `/~lf7` | contain letters in this order |\n" +
		"| `/!leaf` | do not match; `!` may precede any of these filters |\n" +
		"| `/@job` | concern a host of the set job (`H`, `hosts`) |\n" +
		"| `/leaf-12/5` | are the port; Enter goes to the port |\n")
	return b.String()
}

// TestKeysOfFeatures checks that each pane has exactly one key of a feature, that every key of a feature leads to a
// pane or is an action of the screen, and that a pane has the name of its constructor.
func TestKeysOfFeatures(t *testing.T) {
	leads := map[string]int{}
	actions := keymap()
	for _, k := range shell.Keys() {
		if k.Pane != "" {
			leads[k.Pane]++
		}
		if !slices.ContainsFunc(actions, func(a pane.Action) bool {
			return a.Name == k.Name && a.Help().Desc == k.Help
		}) {
			t.Errorf("no action has the key %+v", k)
		}
	}
	for i, p := range newPanes(&pane.Common{Look: drive(t, tree).m.Look}, nil) {
		name := p.About().Name
		if name != makers[i].name {
			t.Errorf("the constructor %s makes the pane %s", makers[i].name, name)
		}
		if leads[name] != 1 {
			t.Errorf("%d keys lead to the pane %s, want 1", leads[name], name)
		}
		delete(leads, name)
	}
	if len(leads) > 0 {
		t.Errorf("keys lead to panes that do not exist: %v", leads)
	}
}
