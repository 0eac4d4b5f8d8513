// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
)

// Conf is an opensm.conf.
type Conf struct {
	Name string
	// Options are those that were given, the last value of each, in the order of
	// their first line.
	Options []ConfOption
	// Notes are lines that OpenSM does not know.
	Notes []FileNote
}

// ConfOption is an option of opensm.conf with its value, without quotes.
type ConfOption struct {
	Name, Value string
	Line        int
}

// confLine is the buffer that OpenSM reads lines of its configuration into (osm_subnet.c).
const confLine = 1023

// confNames are the options of OpenSM 3.3.23 (osm_subnet.c, opt_tbl).
var confNames = strings.Fields(`
accum_log_file allow_both_pkeys avoid_throttled_links babbling_port_policy cc_ca_cong_setting_ccti_increase
cc_ca_cong_setting_ccti_min cc_ca_cong_setting_ccti_timer cc_ca_cong_setting_control_map cc_ca_cong_setting_port_control
cc_ca_cong_setting_trigger_threshold cc_cct cc_key cc_max_outstanding_mads cc_sw_cong_setting_control_map
cc_sw_cong_setting_credit_mask cc_sw_cong_setting_credit_starvation_return_delay cc_sw_cong_setting_credit_starvation_threshold
cc_sw_cong_setting_marking_rate cc_sw_cong_setting_packet_size cc_sw_cong_setting_threshold cc_sw_cong_setting_victim_mask
cn_guid_file congestion_control connect_roots console console_port consolidate_ipv6_snm_req daemon dimn_ports_file
disable_multicast do_mesh_analysis drop_event_subscriptions dump_files_dir enable_quirks event_db_dump_file event_plugin_name
event_plugin_options exit_on_fatal fdr10 force_heavy_sweep force_link_speed force_link_speed_ext force_link_width force_log_flush
fsync_high_avail_files guid guid_routing_order_file guid_routing_order_no_scatter head_of_queue_lifetime honor_guid2lid_file
hop_weights_file ids_guid_file ignore_other_sm io_guid_file ipoib_mcgroup_creation_validation keep_pkey_indexes lash_start_vl
leaf_head_of_queue_lifetime leaf_vl_stall_count lfts_file lid_matrix_dump_file lmc lmc_esp0 local_phy_errors_threshold log_file
log_flags log_max_size log_prefix long_transaction_timeout m_key m_key_lease_period m_key_lookup m_key_protection_level
max_msg_fifo_timeout max_op_vls max_rate_enum max_reverse_hops max_smps_timeout max_wire_smps max_wire_smps2
mcgroup_join_validation no_clients_rereg no_partition_enforcement node_name_map_name nue_include_switches nue_max_num_vls
overrun_errors_threshold packet_life_time part_enforce partition_config_file per_module_logging_file perfmgr perfmgr_ignore_cas
perfmgr_log_errors perfmgr_max_outstanding_queries perfmgr_query_cpi perfmgr_redir perfmgr_rm_nodes perfmgr_sweep_time_s
perfmgr_xmit_wait_log perfmgr_xmit_wait_threshold polling_retry_number port_prof_ignore_file port_profile_switch_nodes
port_search_ordering_file port_shifting prefix_routes_file qos qos_ca_high_limit qos_ca_max_vls qos_ca_sl2vl qos_ca_vlarb_high
qos_ca_vlarb_low qos_high_limit qos_max_vls qos_policy_file qos_rtr_high_limit qos_rtr_max_vls qos_rtr_sl2vl qos_rtr_vlarb_high
qos_rtr_vlarb_low qos_sl2vl qos_sw0_high_limit qos_sw0_max_vls qos_sw0_sl2vl qos_sw0_vlarb_high qos_sw0_vlarb_low
qos_swe_high_limit qos_swe_max_vls qos_swe_sl2vl qos_swe_vlarb_high qos_swe_vlarb_low qos_vlarb_high qos_vlarb_low
quasi_ftree_indexing reassign_lids root_guid_file routing_engine sa_db_dump sa_db_file sa_key scatter_ports single_thread
sm_assigned_guid sm_inactive sm_key sm_priority sm_sl sminfo_polling_timeout subnet_prefix subnet_timeout
suppress_sl2vl_mad_status_errors sweep_interval sweep_on_trap torus_config transaction_retries transaction_timeout use_mfttop
use_optimized_slvl use_original_extended_sa_rates_only use_ucast_cache vl_stall_count
`)

// ReadConf reads an opensm.conf as OpenSM does (osm_subnet.c,
// osm_subn_parse_conf_file). Options without a value, and those whose value is
// (null), are left out. An error is one of reading. O(bytes).
func ReadConf(r io.Reader, name string) (*Conf, error) {
	c := &Conf{Name: name}
	pieces := newPieceReader(r, name, confLine)
	for {
		piece, err := pieces.next()
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		piece, _, _ = strings.Cut(piece, "#")
		piece = strings.TrimLeft(piece, " \t\n")
		end := strings.IndexAny(piece, " \t\n")
		if piece == "" {
			continue
		}
		if end < 0 {
			end = len(piece)
		}
		c.take(ConfOption{Name: piece[:end], Value: confValue(piece[end:]), Line: pieces.line})
	}
}

func (c *Conf) take(o ConfOption) {
	if !slices.Contains(confNames, o.Name) {
		c.Notes = append(c.Notes, FileNote{File: c.Name, Line: o.Line, Text: fabric.Escape(o.Name) + " is no option of OpenSM 3.3.23, which passes over it"})
		return
	}
	if o.Value == "" {
		return
	}
	i := slices.IndexFunc(c.Options, func(x ConfOption) bool { return x.Name == o.Name })
	switch {
	case i >= 0:
		c.Options[i] = o
	default:
		c.Options = append(c.Options, o)
	}
}

// confValue takes space and a pair of quotes off.
func confValue(s string) string {
	s = strings.Trim(s, cSpace)
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	if s == "(null)" {
		return ""
	}
	return s
}

// Get returns the value of an option, "" where it was not given.
func (c *Conf) Get(name string) string {
	for _, o := range c.Options {
		if o.Name == name {
			return o.Value
		}
	}
	return ""
}
