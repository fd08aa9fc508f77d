// What the plan of a run keeps when the run completes. The statement that ends the run stores it.

/**
 * Parameters of provider requests. The inputs of the run have them as the caller sent them, `attempts.request` as the
 * provider got them, and `attempts.price` has the accepted price of the selected offer.
 */
const REQUEST_PARAMETERS = [
  ...["prompt", "negative_prompt", "width", "height", "aspect_ratio", "seed", "count", "request_count", "routing"],
  ...["defaulted", "is_strict", "source_size", "prices", "model_run"],
];

/**
 * SQL expression of the plan of a completed run, which only layers and trees read: tasks, options and sources of all
 * jobs. A plan of one job without sources says nothing to them and becomes empty, as that of an upload.
 */
export const COMPLETED_PLAN = `case
       when jsonb_array_length(runs.plan) = 1 and not runs.plan -> 0 ?| '{images,mask,masks}' then '[]'
       else coalesce((
         select jsonb_agg(job - '{${REQUEST_PARAMETERS.join(",")}}'::text[] order by job_index)
         from jsonb_array_elements(runs.plan) with ordinality as jobs (job, job_index)), '[]')
     end`;
