// SPDX-License-Identifier: Apache-2.0

package balance_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing/checks/balance"
)

// TestConsole compares with the output of OpenSM's console for the same tables.
func TestConsole(t *testing.T) {
	testenv.Tool(t, "opensm")
	uneven := 0
	for _, c := range []struct{ spec, engine, lmc string }{
		{"torus:4x3,2", "minhop", "0"}, {"fattree:2,8", "ftree", "0"}, {"random:12,4,3,seed=5", "updn", "2"},
		{"torus:3x3,2", "dor", "3"}, {"fattree:2,8", "minhop", "3"},
	} {
		t.Run(c.spec+" "+c.engine+" "+c.lmc, func(t *testing.T) {
			sim, dir := start(t, c.spec), t.TempDir()
			console := openConsole(t, sim, dir, "-R", c.engine, "-l", c.lmc)
			f, tables := swept(t, sim)
			var switches, lids bytes.Buffer
			for sw := range f.NumSwitches() {
				s := balance.OfSwitch(tables, sw)
				s.Text(&switches, f)
				for _, e := range f.EndPorts {
					if !f.Nodes[f.Ports[e].Node].IsSwitch() {
						b := balance.OfEnd(tables, sw, e)
						b.Text(&lids, f)
					}
				}
			}
			if got := console("switchbalance verbose"); got != switches.String() {
				t.Errorf("OpenSM prints\n%s\nwe print\n%s", got, switches.String())
			}
			if got := console("lidbalance"); got != lids.String() {
				t.Errorf("OpenSM prints\n%s\nwe print\n%s", got, lids.String())
			}
			uneven += strings.Count(lids.String(), "\n")
			if !strings.Contains(switches.String(), "Port ") {
				t.Error("no ports were counted")
			}
		})
	}
	if uneven == 0 {
		t.Error("no LID was uneven anywhere")
	}
}

func start(t *testing.T, spec string) *ibsimtest.Sim {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := gen.WriteNet(&text, f); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return ibsimtest.Start(t, file)
}

func swept(t *testing.T, s *ibsimtest.Sim) (*fabric.Fabric, *fabric.Tables) {
	t.Helper()
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	client, err := mad.NewClient(transport, mad.ClientOptions{Window: 32})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	res, err := sweep.Full(t.Context(), client, sweep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Fabric, res.Tables
}

// said is the output of a program.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// prompt ends the answers of the console.
const prompt = "OpenSM $ "

// openConsole runs OpenSM with its console until the test ends, and returns a function that sends one command.
func openConsole(t *testing.T, s *ibsimtest.Sim, dir string, args ...string) func(string) string {
	t.Helper()
	config, log := filepath.Join(dir, "opensm.conf"), filepath.Join(dir, "opensm.log")
	if err := os.WriteFile(config, []byte("force_log_flush TRUE\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	port := testenv.FreePorts(t, 1)[0]
	ctx, cancel := context.WithCancel(context.Background())
	cmd := s.Command(ctx, "opensm",
		append([]string{"-F", config, "-f", log, "-q", "loopback", "-C", strconv.Itoa(port)}, args...)...)
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir)
	out := &said{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("opensm: no %s within a minute; it printed:\n%s", what, out)
			}
		}
	}
	until("subnet", func() bool {
		text, _ := os.ReadFile(log)
		return strings.Contains(string(text), "SUBNET UP")
	})
	in, err := new(net.Dialer).DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	answer := func() string {
		t.Helper()
		if err := in.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		var text []byte
		buf := make([]byte, 4096)
		for !bytes.HasSuffix(text, []byte(prompt)) {
			n, err := in.Read(buf)
			if err != nil {
				t.Fatalf("opensm's console: %v; it printed:\n%s\n%s", err, text, out)
			}
			text = append(text, buf[:n]...)
		}
		return string(text[:len(text)-len(prompt)])
	}
	answer()
	return func(command string) string {
		t.Helper()
		if _, err := io.WriteString(in, command+"\n"); err != nil {
			t.Fatal(err)
		}
		return answer()
	}
}
