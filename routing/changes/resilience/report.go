// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Report is what a study, or shards of it, came to so far.
type Report struct {
	Kind Kind `json:"kind"`
	// Fabric and Routing name what was studied: reports with others cannot be merged.
	Fabric  string `json:"fabric"`
	Routing string `json:"routing"`
	// Failures is how many there are in all shards, Done of how many this report is.
	Failures int `json:"failures"`
	Done     int `json:"done"`
	// Shard are the shards, from 1 to Shards, that the report is of.
	Shards int   `json:"shards"`
	Shard  []int `json:"shard"`
	// Paths is how many arrive while nothing has failed, Worst the most of them over a link between switches.
	Paths int64 `json:"paths"`
	Worst int64 `json:"worst_load"`
	// Splitting, Losing and Overloading count the failures that cut off end ports,
	// that lose paths, and that make the most paths over a link more.
	Splitting   int `json:"splitting"`
	Losing      int `json:"losing"`
	Overloading int `json:"overloading"`
	// Changed is how many entries change in all.
	Changed int64 `json:"changed_entries"`
	// Failed are the worst failures, at most [Kept] of them: those that lose most paths,
	// of equals those that make the most paths over a link.
	Failed []Verdict `json:"failed"`

	// Unchecked says that the report was read from a file without a checksum, as older versions wrote it.
	Unchecked bool `json:"-"`
}

// count adds a verdict to the sums.
func (r *Report) count(v *Verdict) {
	if v.Unreachable > 0 {
		r.Splitting++
	}
	if v.Lost > 0 {
		r.Losing++
	}
	if v.Worst > r.Worst {
		r.Overloading++
	}
	r.Changed += int64(v.Changed)
}

// share is how many failures the shards of the report have.
func (r *Report) share() int {
	n := 0
	for _, shard := range r.Shard {
		n += (r.Failures + r.Shards - shard) / r.Shards
	}
	return n
}

// Complete says that all failures of the report's shards are done.
func (r *Report) Complete() bool { return r.Done == r.share() }

// Share is how many failures the report is to be of.
func (r *Report) Share() int { return r.share() }

// ErrOther says that reports are not of one study.
var ErrOther = errors.New("the reports are of different studies")

func (r *Report) sameStudy(o *Report) error {
	switch {
	case r.Kind != o.Kind:
		return fmt.Errorf("%w: of %s and of %s", ErrOther, r.Kind, o.Kind)
	case r.Fabric != o.Fabric:
		return fmt.Errorf("%w: the fabrics differ", ErrOther)
	case r.Routing != o.Routing:
		return fmt.Errorf("%w: the routings differ", ErrOther)
	case r.Failures != o.Failures:
		return fmt.Errorf("%w: of %d and of %d failures", ErrOther, r.Failures, o.Failures)
	}
	return nil
}

// Read reads a report that [Report.Write] wrote. Name is what an error calls it.
func Read(in io.Reader, name string) (*Report, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	r := &Report{}
	err = json.Unmarshal(text, r)
	wrong, place := (*json.SyntaxError)(nil), (*json.UnmarshalTypeError)(nil)
	switch {
	case len(text) == 0:
		return nil, fmt.Errorf("%s: the file is empty, expected a report of resilience", name)
	case errors.As(err, &wrong) && int(wrong.Offset) >= len(text):
		return nil, fmt.Errorf("%s: the file is cut short at byte %d, expected a report of resilience", name, len(text))
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("%s: at byte %d: %w, expected a report of resilience", name, wrong.Offset, err)
	case errors.As(err, &place):
		return nil, fmt.Errorf("%s: at byte %d: %w, expected a report of resilience", name, place.Offset, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w, expected a report of resilience", name, err)
	}
	if r.Unchecked, err = unchecked(text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !r.escaped() {
		return nil, fmt.Errorf("%s: no report of resilience: a name in it has control characters", name)
	}
	if r.Shards < 1 || r.Shards > maxShards || len(r.Shard) == 0 || len(r.Shard) > r.Shards || r.Failures < 0 ||
		r.Fabric == "" || r.Routing == "" {
		return nil, fmt.Errorf("%s: no report of resilience: it names no fabric, routing or shard", name)
	}
	slices.Sort(r.Shard)
	for i, shard := range r.Shard {
		if shard < 1 || shard > r.Shards || i > 0 && shard == r.Shard[i-1] {
			return nil, fmt.Errorf("%s: shards %v of %d", name, r.Shard, r.Shards)
		}
	}
	if r.Done < 0 || r.Done > r.share() {
		return nil, fmt.Errorf("%s: %d failures done of %d", name, r.Done, r.share())
	}
	return r, nil
}

// Merge puts the reports of shards together, which must be of one study and of different shards. Missing are
// the shards that are not among them, Unfinished those that are not done to the end.
func Merge(reports []*Report) (all *Report, missing, unfinished []int, err error) {
	if len(reports) == 0 {
		return nil, nil, nil, errors.New("no reports to merge")
	}
	first := reports[0]
	sum := *first
	sum.Shard, sum.Failed, sum.Done, sum.Splitting, sum.Losing, sum.Overloading, sum.Changed = nil, []Verdict{},
		0, 0, 0, 0, 0
	for _, r := range reports {
		if err := first.sameStudy(r); err != nil {
			return nil, nil, nil, err
		}
		if r.Shards != first.Shards {
			return nil, nil, nil, fmt.Errorf("%w: in %d and in %d shards", ErrOther, first.Shards, r.Shards)
		}
		for _, shard := range r.Shard {
			if slices.Contains(sum.Shard, shard) {
				return nil, nil, nil, fmt.Errorf("shard %d of %d comes twice", shard, r.Shards)
			}
			sum.Shard = append(sum.Shard, shard)
		}
		if !r.Complete() {
			unfinished = append(unfinished, r.Shard...)
		}
		sum.Done += r.Done
		sum.Splitting, sum.Losing, sum.Overloading = sum.Splitting+r.Splitting, sum.Losing+r.Losing, sum.Overloading+
			r.Overloading
		sum.Changed += r.Changed
		sum.Failed = append(sum.Failed, r.Failed...)
	}
	slices.Sort(sum.Shard)
	slices.Sort(unfinished)
	slices.SortStableFunc(sum.Failed, worse)
	sum.Failed = slices.Clone(sum.Failed[:min(Kept, len(sum.Failed))])
	for shard := 1; shard <= sum.Shards; shard++ {
		if !slices.Contains(sum.Shard, shard) {
			missing = append(missing, shard)
		}
	}
	return &sum, missing, unfinished, nil
}

// maxShards is more than a job array has.
const maxShards = 1 << 20
