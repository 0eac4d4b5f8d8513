// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
)

// ask returns the response of a server on this machine. accept is the requested format.
func ask(t *testing.T, address, accept string) (text, form string, ok bool) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", "", false
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return string(body), resp.Header.Get("Content-Type"), err == nil && resp.StatusCode == http.StatusOK
}

// eventually repeats a check until it succeeds, for up to a minute.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for range 600 {
		if so() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

// TestMetrics serves metrics on this machine only, in both formats. promtool must accept them.
func TestMetrics(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	_, line := recorderSays(t, busy, "metrics=0")
	var status struct{ Metrics string }
	if err := json.Unmarshal([]byte(line), &status); err != nil {
		t.Fatal(err)
	}
	if host, _, err := net.SplitHostPort(status.Metrics); err != nil || host != "127.0.0.1" {
		t.Fatalf("it listens at %q, %v", status.Metrics, err)
	}
	address := "http://" + status.Metrics + "/metrics"
	text := ""
	eventually(t, "traffic is reported", func() bool {
		text, _, _ = ask(t, address, "")
		return strings.Contains(text, "\ninfiniband_switch_port_transmit_data_bytes_total{subnet=\"fattree:2,8")
	})
	newer, form, ok := ask(t, address, "application/openmetrics-text; version=1.0.0")
	if !ok || !strings.HasPrefix(form, "application/openmetrics-text") || !strings.HasSuffix(newer, "\n# EOF\n") ||
		!strings.Contains(newer, "# TYPE infiniband_switch_port_symbol_error counter\n") {
		t.Errorf("as %s: %.200s", form, newer)
	}
	if _, _, ok := ask(t, "http://"+status.Metrics+"/", ""); ok {
		t.Error("there is more than metrics")
	}
	cmd := exec.Command(testenv.Tool(t, "promtool"), "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v: %s", err, said)
	}
	if testenv.Full() { // this takes ten seconds
		scrape(t, status.Metrics)
	}
}

// scrape makes Debian's Prometheus read them, and queries the data rate of a host: 30 % of 400 Gb/s.
func scrape(t *testing.T, target string) {
	dir := t.TempDir()
	conf := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: ib\n  static_configs: "+
		"[{targets: [%q]}]\n", target)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("127.0.0.1:%d", testenv.FreePorts(t, 1)[0])
	cmd := exec.Command(testenv.Tool(t, "prometheus"), "--config.file="+conf, "--storage.tsdb.path="+dir,
		"--web.listen-address="+at)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	query := "http://" + at + "/api/v1/query?query=" +
		url.QueryEscape(`max(rate(infiniband_hca_port_transmit_data_bytes_total[10s]))`)
	last := ""
	eventually(t, "Prometheus has the rate", func() bool {
		text, _, ok := ask(t, query, "")
		var a struct {
			Data struct {
				Result []struct{ Value [2]any }
			}
		}
		if !ok || json.Unmarshal([]byte(text), &a) != nil || len(a.Data.Result) == 0 {
			return false
		}
		last, _ = a.Data.Result[0].Value[1].(string)
		rate, err := strconv.ParseFloat(last, 64)
		return err == nil && rate > 12e9 && rate < 18e9
	})
	t.Logf("%s bytes a second", last)
}

// TestDashboard makes promtool parse the queries of the dashboard.
func TestDashboard(t *testing.T) {
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	text, err := os.ReadFile("../packaging/grafana-dashboard.json")
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil || len(d.Panels) < 5 {
		t.Fatal(len(d.Panels), err)
	}
	rules := "groups:\n- name: dashboard\n  rules:\n"
	for i, p := range d.Panels {
		rules += fmt.Sprintf("  - record: panel_%d\n    expr: %q\n", i,
			strings.ReplaceAll(p.Targets[0].Expr, "$__rate_interval", "5m"))
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(testenv.Tool(t, "promtool"), "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// TestRules makes promtool check the rules for Prometheus and evaluate them on known series.
func TestRules(t *testing.T) {
	rules, err := filepath.Abs("../packaging/prometheus-rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := os.ReadFile("testdata/prometheus-rules-test.yml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cases.yml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(cases), "RULES", rules)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", rules}, {"test", "rules", file}} {
		if said, err := exec.Command(testenv.Tool(t, "promtool"), args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v: %s", args, err, said)
		}
	}
}
