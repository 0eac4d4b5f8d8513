// SPDX-License-Identifier: Apache-2.0

package counterdump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
)

// The sections and keys of mlxlink's JSON, as mlxlink of mstflint prints them (mlxlink_commander.cpp, showBer and
// prepareBerInfo). A value is a text; N/A means that it was not read. The speed of an InfiniBand port begins with IB-.
const (
	sectionState    = "Operational Info"
	sectionCounters = "Physical Counters and BER Info"
	keySpeed        = "Speed"
	notAvailable    = "N/A"
)

// mlxlinkKeys are the keys of counters that PortCounters has, too. Wide counters have more bits than in PortCounters.
// The effective and raw errors of the physical layer have no counterpart.
var mlxlinkKeys = []struct {
	key     string
	counter counters.Counter
	wide    bool
}{
	{"Symbol Errors", counters.SymbolErrors, true},                    // phy_symbol_errors of the register PPCNT
	{"Link Down Counter", counters.LinkDowned, false},                 // link_downed_counter
	{"Link Error Recovery Counter", counters.LinkErrorRecovery, true}, // successful_recovery_events
}

// mlxlinkFile is the JSON of mlxlink. It does not contain the port.
type mlxlinkFile struct {
	Result struct {
		Output map[string]json.RawMessage `json:"output"`
	} `json:"result"`
	Status struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
}

// ReadMlxlink reads the counters that "mlxlink -c --json" prints for a port. The argument at is the time of the
// counters.
func ReadMlxlink(r io.Reader, name string, f *fabric.Fabric, port fabric.PortIndex, at time.Time) (counters.Port,
	error) {
	got, err := readMlxlink(r, f, port, at)
	if err != nil {
		return counters.Port{}, fmt.Errorf("%s%w", fabric.Escape(name), err)
	}
	return got, nil
}

func readMlxlink(r io.Reader, f *fabric.Fabric, port fabric.PortIndex, at time.Time) (counters.Port, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return counters.Port{}, fmt.Errorf(": %w", err)
	}
	var file mlxlinkFile
	if err := json.Unmarshal(text, &file); err != nil {
		return counters.Port{}, fmt.Errorf(":%d: JSON of mlxlink: %w", lineOf(text, err), err)
	}
	if file.Status.Code != 0 {
		return counters.Port{}, fmt.Errorf(": mlxlink failed with status %d: %s", file.Status.Code,
			fabric.Escape(file.Status.Message))
	}
	state, values := map[string]any{}, map[string]any{}
	for section, to := range map[string]*map[string]any{sectionState: &state, sectionCounters: &values} {
		raw, ok := file.Result.Output[section]
		if !ok {
			return counters.Port{}, fmt.Errorf(": JSON of mlxlink without %q; hint: run 'mlxlink --json -c'", section)
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return counters.Port{}, fmt.Errorf(": JSON of mlxlink: %q: %w", section, err)
		}
	}
	if speed, _ := state[keySpeed].(string); speed != notAvailable && !strings.HasPrefix(speed, "IB-") {
		return counters.Port{}, fmt.Errorf(": JSON of mlxlink: speed %q, expected an InfiniBand port",
			fabric.Escape(speed))
	}
	p := parser{f: f, at: at, index: map[fabric.PortIndex]int{}, names: map[string]counters.Counter{}}
	for _, k := range mlxlinkKeys {
		value, ok := values[k.key].(string)
		if !ok || value == notAvailable {
			continue
		}
		p.names[k.key] = k.counter
		if err := p.set(port, []byte(k.key), []byte(value), k.wide); err != nil {
			return counters.Port{}, fmt.Errorf(": JSON of mlxlink: %q: %w", k.key, err)
		}
	}
	if len(p.ports) == 0 {
		return counters.Port{}, errors.New(": JSON of mlxlink without counters that were read")
	}
	return p.ports[0], nil
}

// lineOf returns the line at which JSON is not valid.
func lineOf(text []byte, err error) int {
	at := int64(len(text))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = syntax.Offset
	} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at = kind.Offset
	}
	return 1 + bytes.Count(text[:min(at, int64(len(text)))], []byte("\n"))
}
