// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/shell/report"
	"example.org/ibconsole/shell/session/analysis"
)

// made is the report of a routed fat-tree whose first nodes have these names.
func made(t testing.TB, names ...string) *report.Report {
	t.Helper()
	_, r := madeOf(t, names...)
	return r
}

func madeOf(t testing.TB, names ...string) (*fabric.Fabric, *report.Report) {
	t.Helper()
	return madeFrom(t, "fattree:2,4", names...)
}

func madeFrom(t testing.TB, spec string, names ...string) (*fabric.Fabric, *report.Report) {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	desc := map[uint64]string{}
	for i, name := range names {
		desc[f.SwitchNode(fabric.SwitchIndex(i%len(f.Switches))).GUID] = name
		desc[f.Nodes[i].GUID] = name
	}
	f = f.WithDescriptions(desc)
	res, err := minhop.Engine{}.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	title := "live"
	if len(names) > 0 {
		title = fabric.Escape(names[0])
	}
	r, err := report.New(t.Context(), &analysis.Memo{}, f, res.Tables, title, "sim", nil)
	if err != nil {
		t.Fatal(err)
	}
	return f, r
}

func written(t testing.TB, r *report.Report, format string) string {
	t.Helper()
	for _, f := range report.Formats() {
		if f.Name == format {
			var b bytes.Buffer
			if err := f.Write(r, &b); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
	}
	t.Fatalf("no form %s", format)
	return ""
}

var hostile = []string{
	`<script>document.title='taken'</script>`, `"><img src=x onerror="document.title='taken'">`,
	`a|b](javascript:x) **c** <b>`, `=1+cmd|' /C calc'!A0`,
	"\"];\n x -> y [label=\"", `\N \G "\l`, "line\nbreak,\"quote\"\r\x1b[31m", "&amp; &lt; &#x22;", "bad \xff utf8",
}

// FuzzNames gives nodes names and reads each form back: names are what they were, with the GUID because all nodes have
// the same name, and the form around them stays as it is with harmless ones.
func FuzzNames(f *testing.F) {
	for _, name := range hostile {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) > 64 {
			name = name[:64]
		}
		if name == "" {
			return
		}
		plain, r := made(t, "harmless"), made(t, name)
		escaped := fabric.Escape(name)
		records, err := csv.NewReader(strings.NewReader(written(t, r, "csv"))).ReadAll()
		if err != nil || len(records) != len(r.Ports)+1 {
			t.Fatalf("CSV: %v, %d records", err, len(records))
		}
		want := regexp.MustCompile(`^'?` + regexp.QuoteMeta(escaped) + ` \(0x[0-9a-f]{16}\)$`)
		if got := records[1][0]; !want.MatchString(got) || strings.ContainsRune("=+-@", rune(got[0])) {
			t.Errorf("CSV: %q, expected %q", got, want)
		}
		for _, form := range []struct{ name, marks string }{{"html", "<>\""}, {"svg", "<>\""}, {"markdown", "<>|\n"}} {
			a, b := written(t, plain, form.name), written(t, r, form.name)
			for _, mark := range form.marks {
				if x, y := strings.Count(a, string(mark)), strings.Count(b, string(mark)); x != y {
					t.Errorf("%s: %d %q, with a harmless name %d", form.name, y, mark, x)
				}
			}
		}
		if a, b := dotShape(t, written(t, plain, "dot")), dotShape(t, written(t, r, "dot")); a != b {
			t.Errorf("dot: %s\nwith a harmless name %s", b, a)
		}
		for line := range strings.Lines(written(t, r, "slurm-conf")) {
			if !regexp.MustCompile(
				`^SwitchName=[A-Za-z0-9_-]+ (Nodes|Switches)=[A-Za-z0-9_,\[\]-]+\n$|^# `).MatchString(line) {
				t.Errorf("slurm: %q", line)
			}
		}
	})
}

// dotShape is a drawing with the texts taken out, by the rule of dot's language that
// in quotes only \" is a quote.
func dotShape(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
			b.WriteByte(c)
		case quoted && c == '\n':
			t.Error("dot: a line break in quotes")
		case !quoted:
			b.WriteByte(c)
		}
	}
	if quoted {
		t.Error("dot: a quote that does not end")
	}
	return b.String()
}

// TestDotDraws has Debian's dot draw the graph: it has all switches and links.
func TestDotDraws(t *testing.T) {
	dot := testenv.Tool(t, "dot")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for _, names := range [][]string{nil, hostile} {
		cmd := exec.CommandContext(ctx, dot, "-Tplain")
		cmd.Stdin = strings.NewReader(written(t, made(t, names...), "dot"))
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil || complaints.Len() > 0 {
			t.Fatalf("dot: %v %s", err, &complaints)
		}
		nodes := len(regexp.MustCompile(`(?m)^node s\d+ `).FindAll(out, -1))
		edges := len(regexp.MustCompile(`(?m)^edge s\d+ s\d+ `).FindAll(out, -1))
		if nodes != 6 || edges != 8 { // four leaves, two spines, each with each
			t.Errorf("%d nodes, %d edges:\n%s", nodes, edges, out)
		}
	}
}

// TestPageOpens opens the page in a browser that has no network, and looks at what it
// has made of it.
func TestPageOpens(t *testing.T) {
	chromium := testenv.Tool(t, "chromium")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	if err := os.WriteFile(page, []byte(written(t, made(t, hostile[:6]...), "html")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+dir,
		"--proxy-server=127.0.0.1:9", "--dump-dom", "file://"+page)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v", err)
	}
	dom := string(out)
	if !strings.Contains(dom, "<title>Routing of an InfiniBand subnet</title>") || strings.Count(dom, "<svg") != 3 ||
		strings.Count(dom, "<rect") < 3 {
		t.Errorf("the page is another: %.2000s", dom)
	}
	if strings.Contains(dom, "<img") || strings.Contains(dom, "<script") || !strings.Contains(dom, "&lt;img src=x") {
		t.Errorf("a name became an element: %s", dom)
	}
	if strings.Contains(dom, "http:") || strings.Contains(dom, "https:") || strings.Contains(dom, "url(") {
		t.Error("the page names something outside")
	}
}
