"""The cases of the two systems that the presets reproduce, by their own numbers: the test that holds each, or why there is none.

PF-n are the download scheduler's tests, SE-n and WB-n the relay's, of session events and of workspaces.
"""

from __future__ import annotations

SWEEP, LISTING, PAGES, APPEND = "test_sweep.py", "test_listing.py", "test_pages.py", "test_append.py"
CLAIMS, EFFECTS, CREATION = "test_claims.py", "test_effects.py", "test_creation.py"

HELD: dict[str, tuple[str, str]] = {
    "PF-1": (SWEEP, "test_1_no_configuration_means_the_defaults"),
    "PF-2": (SWEEP, "test_2_a_value_below_the_floor_or_unreadable_means_the_default"),
    "PF-3": (SWEEP, "test_3_each_value_stands_for_itself"),
    "PF-4": (SWEEP, "test_4_a_pending_slot_ends_with_its_cells_after_30_minutes"),
    "PF-5": (SWEEP, "test_5_a_fresh_slot_stays"),
    "PF-6": (SWEEP, "test_6_a_live_lease_keeps_a_pending_slot"),
    "PF-7": (SWEEP, "test_7_a_running_slot_whose_lease_and_heartbeat_are_old_ends"),
    "PF-8": (SWEEP, "test_8_long_work_with_a_live_lease_stays"),
    "PF-9": (SWEEP, "test_9_a_fresh_heartbeat_keeps_a_slot_whose_lease_ran_out"),
    "PF-10": (SWEEP, "test_10_a_skipped_slot_stays_and_counts_as_scanned"),
    "PF-11": (SWEEP, "test_11_a_limit_leaves_the_rest_for_the_next_run"),
    **{f"PF-{n}": (SWEEP, "test_12_to_15_a_slot_that_was_given_out_again_is_skipped_the_others_end") for n in range(12, 16)},
    **{f"PF-{n}": (SWEEP, "test_16_to_18_a_wrong_value_warns_and_never_stops") for n in range(16, 19)},
    "PF-20": (SWEEP, "test_20_the_zone_of_the_machine_does_not_matter"),
    "PF-21": (SWEEP, "test_21_and_22_a_lease_is_live_until_its_time"),
    "PF-22": (SWEEP, "test_21_and_22_a_lease_is_live_until_its_time"),
    "PF-30": (SWEEP, "test_30_and_34_a_status_derived_from_finished_cells"),
    "PF-32": (SWEEP, "test_32_only_open_cells_get_a_reason"),
    "PF-34": (SWEEP, "test_30_and_34_a_status_derived_from_finished_cells"),
    "PF-64": (LISTING, "test_a_new_job"),
    "PF-66": (PAGES, "test_66_a_job_that_nobody_knows_has_an_empty_page_and_no_cursor"),
    "PF-67": (LISTING, "test_a_running_job_after_a_place"),
    "PF-68": (LISTING, "test_acking_the_last"),
    "PF-69": (LISTING, "test_acking_an_unknown_event_moves_nothing"),
    "PF-70": (LISTING, "test_acking_a_hidden_event_moves_nothing"),
    "PF-71": (LISTING, "test_a_cursor_never_moves_back"),
    "PF-72": (PAGES, "test_72_what_names_no_event_moves_no_cursor"),
    "PF-73": (LISTING, "test_acking_leaves_the_log_alone"),
    "PF-74": (LISTING, "test_an_ended_job"),
    "PF-75": (SWEEP, "test_75_an_expired_job_has_its_event_once_and_whoever_asked_is_told"),
    "PF-76": (LISTING, "test_an_ended_job"),
    "PF-77": (LISTING, "test_an_ended_job"),
    "PF-78": (APPEND, "test_no_callback_asked_for_no_row"),
    "PF-79": (APPEND, "test_a_callback_row_goes_with_its_event"),
    **{f"PF-{n}": (PAGES, "test_80_81_82_what_becomes_of_a_callback_changes_no_page") for n in range(80, 83)},
    "PF-83": (LISTING, "test_every_kind_is_mapped_and_an_unknown_one_is_dropped_and_counted"),
    "SE-1": (CLAIMS, "test_se_1_an_effect_that_fails_halfway_leaves_nothing"),
    "SE-2": (CLAIMS, "test_se_2_a_crash_before_the_effect_is_found_by_the_replay"),
    **{f"SE-{n}": (CLAIMS, "test_legacy_events") for n in (3, 4, 5, 7, 8)},
    "SE-6": (CLAIMS, "test_se_6_a_heartbeat_after_a_legacy_event_is_newer"),
    "SE-9": (CLAIMS, "test_se_9_of_two_legacy_replays_one_wins"),
    "SE-10": (CLAIMS, "test_se_10_one_batch_the_agent_first_then_the_marker"),
    "SE-11": (CLAIMS, "test_se_11_an_older_event_is_claimed_and_moves_nothing"),
    "SE-12": (CLAIMS, "test_se_12_se_13_older_and_newer_in_any_order"),
    "SE-13": (CLAIMS, "test_se_12_se_13_older_and_newer_in_any_order"),
    "SE-14": (CLAIMS, "test_se_14_se_15_a_released_agent_is_not_touched"),
    "SE-15": (EFFECTS, "test_se_15_a_released_agent_tells_nobody"),
    "SE-16": (CLAIMS, "test_se_16_the_effect_is_one_batch_whatever_the_host"),
    "SE-17": (CLAIMS, "test_se_17_se_18_two_posts_with_one_key"),
    "SE-18": (EFFECTS, "test_se_17_se_18_two_posts_under_one_key_tell_once"),
    "SE-19": (CLAIMS, "test_se_19_the_same_key_for_another_request_is_a_conflict"),
    "SE-20": (CLAIMS, "test_se_20_a_key_counts_within_its_scope"),
    "SE-21": (CLAIMS, "test_se_21_the_order_of_keys_in_the_payload_does_not_matter"),
    "WB-1": (CREATION, "test_wb_1_a_first_batch_that_fails_in_passing"),
    "WB-2": (CREATION, "test_wb_2_a_channel_that_cannot_be_made_leaves_nothing"),
    "WB-3": (CREATION, "test_wb_3_everything_is_in_one_batch"),
    "WB-4": (CREATION, "test_a_generated_id_that_is_taken"),
    "WB-5": (CREATION, "test_a_generated_id_that_is_taken"),
    "WB-6": (CREATION, "test_wb_6_a_lost_reply_makes_one_pair"),
    "WB-7": (CREATION, "test_the_secret_is_derived_and_revealed_again_and_never_stored"),
    "WB-8": (CREATION, "test_the_secret_is_derived_and_revealed_again_and_never_stored"),
    "WB-9": (CREATION, "test_wb_9_scopes_are_apart_and_another_digest_is_a_conflict"),
    "WB-10": ("test_concurrency.py", "test_one_winner_for_each_claim"),
    "WB-11": (CREATION, "test_wb_11_proof"),
    "WB-12": (CREATION, "test_wb_12_a_key_without_an_owner_must_be_long"),
    "WB-13": (CREATION, "test_wb_13_another_callers_row_under_our_key"),
    "WB-14": (CREATION, "test_wb_14_what_cannot_be_read_back_is_to_be_tried_again"),
    "WB-15": (CREATION, "test_wb_15_the_order_of_provenance_and_metadata_does_not_matter"),
    "WB-16": (CREATION, "test_wb_16_a_key_whose_row_was_deleted_makes_no_other"),
    "WB-17": (CREATION, "test_wb_17_retries_that_run_out_after_the_commit"),
    "WB-18": (CREATION, "test_wb_18_an_error_that_will_not_pass_is_raised_at_once"),
}

WITHOUT_A_DATABASE = {"PF-16", "PF-17", "PF-18", "WB-15"}
"""What is decided before one is asked."""

_WHY: dict[str, tuple[int, ...]] = {
    "how a job is shown to a client: columns that the application reads itself": (19, 23),
    "making slots and cells is the application's; creation under a caller's key is WB-1 to WB-18": (*range(24, 30), 100, 101),
    "resuming, finishing and cancelling a slot is its worker's work; a sweep ends what no worker does": (31, 33, *range(35, 49), 102),
    "whether a job in the same process is aborted or left for another is decided there": tuple(range(49, 57)),
    "which work a cell is bound to is the application's compare-and-set": tuple(range(57, 64)),
    "HTTP, its tokens and its schemas": (65, 103, 104, 105),
    "sending what is in the outbox is its worker's; here rows are written, waited for and kept": tuple(range(84, 99)),
    "what a receiver has confirmed is known to whoever sends": (99,),
    "which message means which reason is the application's; the registry takes codes, and knows every one": (106, 107, 108),
    "when a process goes to sleep": (109, 110),
    "files beside the database, and a database that is corrupt": (111, 112, 113),
    "a verdict for people, which changes no state": (114,),
}
WITHOUT = {f"PF-{n}": why for why, numbers in _WHY.items() for n in numbers}
"""Why there is no test."""

ALL = {f"{system}-{n}" for system, count in (("PF", 114), ("SE", 21), ("WB", 18)) for n in range(1, count + 1)}
